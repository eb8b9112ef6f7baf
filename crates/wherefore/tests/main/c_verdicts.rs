//! Verdicts of `wherefore check` on small C programs whose answer depends on what is outside of
//! them.

use std::fs;
use std::process::Command;

/// A program behind the declaration of `reach_error`, its options, and the verdicts that are right.
type Case = (&'static str, &'static [&'static str], &'static [&'static str]);

/// Checks programs; what is known to fail must not be called safe, and the other way round.
fn judge(class: &str, cases: &[Case]) {
    let folder = std::env::temp_dir().join(format!("wherefore-verdicts-{}-{class}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let mut wrong = Vec::new();
    for (i, (text, options, right)) in cases.iter().enumerate() {
        let file = folder.join(format!("{i}.c"));
        fs::write(&file, format!("extern void reach_error(void);\n{text}\n"))
            .expect("the program is written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_wherefore"));
        command.arg("check").arg(&file).args(["--error-function", "reach_error", "--timeout", "20"]);
        let output = command.args(*options).output().expect("the binary runs");
        let found = match output.status.code() {
            Some(0) => "safe",
            Some(10) => "unsafe",
            Some(5) => "unknown",
            _ => "refused",
        };
        let shown = String::from_utf8_lossy(&output.stdout);
        // Nothing of this can be fed to the compiled program, so it must not be said to have failed
        // for it.
        if !right.contains(&found) || (shown.contains("not confirmed") && found == "unsafe") {
            wrong.push(format!("{found} instead of {right:?}: {text}\n{shown}"));
        }
    }
    let _ = fs::remove_dir_all(folder);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn memory_from_outside_holds_anything() {
    judge(
        "s1",
        &[
            (
                "int main(int argc,char**argv){ char*a=\"y\"; if(argc>1) a=argv[1]; if(a[0]=='z') reach_error(); return 0; }",
                &[],
                &["unsafe"],
            ),
            (
                "extern int*get(void); int own=1; int main(void){ int*a=&own; int*b=get(); if(b) a=b; if(*a==5) reach_error(); return 0; }",
                &[],
                &["unsafe"],
            ),
            (
                "char*getenv(const char*); int main(void){ char*e=getenv(\"X\"); if(e&&e[0]==65) reach_error(); return 0; }",
                &[],
                &["unsafe", "unknown"],
            ),
            (
                "char*strpbrk(const char*,const char*); int main(void){ if(strpbrk(\"abc\",\"c\")[0]==99) reach_error(); return 0; }",
                &[],
                &["unsafe", "unknown"],
            ),
            (
                "extern int*ep; int own; int main(void){ int*a=&own; if(ep) a=ep; if(*a==5) reach_error(); return 0; }",
                &[],
                &["unsafe"],
            ),
            (
                "int own; int f(int c,int*p){ int*a=&own; if(c) a=p; if(*a==5) reach_error(); return 0; }",
                &["--entry=f"],
                &["unsafe"],
            ),
            (
                "extern int*get(void); int own; int main(void){ int*a=&own; int*b=get(); if(own==5) reach_error(); return *b==*a; }",
                &[],
                &["safe"],
            ),
            (
                "int main(int argc,char**argv){ char*a=\"y\"; char *b = argc>1?argv[1]:a; if(a[0]!='y'||a[1]!=0) reach_error(); return b[0]; }",
                &[],
                &["safe", "unknown"],
            ),
            (
                "int len(char*s){ int n=0; while(s[n]) n++; return n; } int main(int argc,char**argv){ if(len(\"abc\")!=3) return 1; if(argc==2 && len(argv[1])==2) reach_error(); return 0; }",
                &[],
                &["unsafe"],
            ),
        ],
    );
}

#[test]
fn functions_without_a_body_change_what_they_are_given() {
    judge(
        "s6",
        &[
            (
                "int read(int,char*,unsigned long); int rd(char*b){return read(0,b,4);} int main(void){ char b[4]={0}; rd(b); if(b[0]==65) reach_error(); return 0; }",
                &[],
                &["unsafe", "unknown"],
            ),
            (
                "int scanf(const char*,...); int main(void){ int x=0; int*p=&x; scanf(\"%d\",p); if(x==5) reach_error(); return 0; }",
                &[],
                &["unsafe", "unknown"],
            ),
            (
                "int scanf(const char*,...); void*malloc(unsigned long); int main(void){ int*p=malloc(4); *p=0; scanf(\"%d\",p); if(*p==5) reach_error(); return 0; }",
                &[],
                &["unsafe", "unknown"],
            ),
            (
                "#include <stdio.h>\nint main(void){ char b[10]={0}; char*p=b; fgets(p,10,stdin); if(b[0]==65) reach_error(); return 0; }",
                &[],
                &["unsafe", "unknown"],
            ),
            (
                "#include <stdio.h>\nint main(void){ char b[10]={0}; char*p=b; sprintf(p,\"A\"); if(b[0]==65) reach_error(); return 0; }",
                &[],
                &["unsafe", "unknown"],
            ),
            (
                "int sprintf(char*,const char*,...); int main(void){ char b[10]={0}; int(*fp)(char*,const char*,...)=sprintf; fp(b,\"A\"); if(b[0]==65) reach_error(); return 0; }",
                &[],
                &["unsafe", "unknown"],
            ),
            (
                "extern void fill(char*); int main(void){ char buf[4]={0}; fill(&buf[0]); if(buf[2]==1) reach_error(); return 0; }",
                &[],
                &["unsafe", "unknown"],
            ),
            (
                "extern void fill(char*); int main(void){ char buf[4]={0}; fill(buf+1); if(buf[2]==1) reach_error(); return 0; }",
                &[],
                &["unsafe", "unknown"],
            ),
            (
                "extern void fi(int*); struct {int a,b;} s; int main(void){ fi(&s.a); if(s.b==1) reach_error(); return 0; }",
                &[],
                &["unsafe", "unknown"],
            ),
            (
                "struct S {int*p;}; extern void fill(struct S*); int main(void){ int x=0; struct S s={&x}; fill(&s); if(x==1) reach_error(); return 0; }",
                &[],
                &["unsafe", "unknown"],
            ),
            (
                "int z; void h(void){z=1;} extern void cb(void(*)(void)); int main(void){ cb(h); if(z) reach_error(); return 0; }",
                &[],
                &["unknown", "unsafe"],
            ),
            (
                "int z; void h(void){z=1;} struct ops{void(*f)(void);} o={h}; extern void cb(struct ops*); int main(void){ cb(&o); if(z) reach_error(); return 0; }",
                &[],
                &["unknown", "unsafe"],
            ),
            (
                "#include <string.h>\n#include <stdio.h>\nint main(void){ char b[4]=\"abc\"; printf(\"%s\\n\",b); puts(b); if(strlen(b)!=3) reach_error(); if(b[0]!='a') reach_error(); return 0; }",
                &[],
                &["safe"],
            ),
            (
                "#include <stdio.h>\nint main(void){ char n[2]=\"a\"; FILE*f=fopen(n,\"r\"); if(n[0]!='a') reach_error(); if(f) fclose(f); return 0; }",
                &[],
                &["safe"],
            ),
            (
                "extern void f(void); int g; int*h(void){return &g;} extern void reg(int*); int main(void){ reg(&g); g=0; f(); if(g==3) reach_error(); return 0; }",
                &[],
                &["unknown", "unsafe"],
            ),
        ],
    );
}

#[test]
fn assembly_is_not_trusted_with_memory() {
    judge(
        "s11",
        &[
            (
                "int main(void){ int x=0,*p; __asm__(\"\":\"=r\"(p):\"0\"(&x)); *p=5; if(x==5) reach_error(); return 0; }",
                &[],
                &["unsafe", "unknown"],
            ),
            (
                "int main(void){ int x=0,*p=&x; __asm__ volatile(\"movl $4,(%0)\"::\"r\"(p):\"memory\"); if(x==4) reach_error(); return 0; }",
                &[],
                &["unsafe", "unknown"],
            ),
            (
                "int main(void){ int a; asm(\"\":\"=r\"(a):\"0\"(7)); if(a) reach_error(); return 0; }",
                &[],
                &["unsafe"],
            ),
        ],
    );
}

#[test]
fn structures_of_bit_fields_are_passed() {
    judge(
        "p",
        &[(
            "struct T{unsigned c:4;}; int f(struct T t){struct T s[1]; s[0]=t; return s[0].c;}\nint main(void){ struct T t; t.c=5; if(f(t)==5) reach_error(); return 0; }",
            &[],
            &["unsafe"],
        )],
    );
}

/// An array is split into variables only as far as no access of one of several cells is left.
#[test]
fn cells_that_an_access_names_together_stay_together() {
    let program = |condition: &str| {
        format!(
            "extern unsigned short __VERIFIER_nondet_ushort(void); static short t[7]={{5,5,5,5,5,5,5}};
             int at=1,sum; static int far(void){{ return t[at+5]; }}
             int main(void){{ unsigned short z=__VERIFIER_nondet_ushort(); short*p=&t[5]; int*q=&at;
             if(z%1000) return 0; *q=z; if(z) return 0; far(); for(int i=0;i<7;i++) sum+=t[i];
             if({condition}) reach_error(); return *p==7; }}"
        )
    };
    let (fails, holds) = (program("sum==35"), program("sum!=35"));
    judge("cells", &[(fails.leak(), &[], &["unsafe"]), (holds.leak(), &[], &["safe", "unknown"])]);
}

/// A null pointer is passed to a function of the library that follows it.
#[test]
fn streams_are_not_null() {
    let head = "#include <stdio.h>\n#include <stdlib.h>\n";
    let program = |body: &str| -> &'static str {
        format!("{head}int main(void){{ FILE*f=fopen(\"x\",\"r\"); char b[9]; int x; {body} return 0; }}")
            .leak()
    };
    let all: &'static [&'static str] = &["--checks", "null"];
    let uses = [
        "x=fgetc(f);",
        "x=getc(f);",
        "fgets(b,9,f);",
        "fclose(f);",
        "fscanf(f,\"%d\",&x);",
        "fread(b,1,9,f);",
        "fprintf(f,\"a\");",
        "fputs(\"a\",f);",
        "fwrite(b,1,1,f);",
        "ungetc(7,f);",
        "x=feof(f);",
        "{ int(*g)(FILE*)=fgetc; x=g(f); }",
    ];
    let mut cases: Vec<Case> = Vec::new();
    for text in uses {
        cases.push((program(text), all, &["unsafe"]));
        cases.push((program(&format!("if(!f) return 1; {text}")), all, &["safe"]));
    }
    let standard = "x=fgetc(stdin); fputs(\"a\",stdout); fprintf(stderr,\"a\"); fflush(NULL);";
    cases.push((program(standard), all, &["safe"]));
    judge("streams", &cases);
}

/// The strings of `argv` are there, as many as `argc` says, and behind them is NULL.
#[test]
fn strings_of_argv_are_there_below_argc() {
    let null: &'static [&'static str] = &["--checks", "null"];
    let program = |body: &str| -> &'static str {
        format!(
            "#include <string.h>\nstatic int walk(char**v){{ int n=0; while(*v){{ if((*v)[0]=='-') n=1; v++; }} return n; }}\n\
             static const char*name(int k){{ return k==1?\"one\":0; }}\n\
             int main(int argc,char**argv){{ char*p=0; int n=0; {body} return n; }}"
        )
        .leak()
    };
    let fails = [
        "n=argv[argc][0];",
        "n=strcmp(argv[1],\"-v\");",
        "p=argv[1]; n=*p;",
        "if(argc>1) p=argv[1]; n=*p;",
        "n=strlen(argc>3?argv[1]:name(argc))>2;",
    ];
    let holds = [
        "n=argv[argc-1][0];",
        "if(argc>1) n=strcmp(argv[1],\"-v\");",
        "if(argv[1]) n=argv[1][0];",
        "for(int i=1;i<argc;i++){ p=argv[i]; while(*p) p++; }",
        "if(argc>1) n=walk(argv+1);",
        "n=name(1)[0];",
    ];
    let fails = fails.map(|body| (program(body), null, &["unsafe"] as &[&str]));
    let holds = holds.map(|body| (program(body), null, &["safe"] as &[&str]));
    judge("argv", &[&fails[..], &holds[..]].concat());
}

/// Whether a property about overflow means that a negative number is shifted is left open.
#[test]
fn negative_numbers_that_are_shifted_are_left_open() {
    let file = std::env::temp_dir().join(format!("wherefore-overflow-{}.prp", std::process::id()));
    fs::write(&file, "CHECK( init(main()), LTL(G ! overflow) )\n").expect("the property is written");
    let asks: &'static [&'static str] = vec!["--property", file.display().to_string().leak()].leak();
    let program = |body: &str| -> &'static str {
        format!("extern int __VERIFIER_nondet_int(void); int main(void){{ int x=__VERIFIER_nondet_int(); {body} }}")
            .leak()
    };
    let cases: [Case; 9] = [
        (program("x=-1; return x<<1;"), asks, &["unknown"]),
        (program("return -1<<1;"), asks, &["unknown"]),
        (program("if(x>9) return 0; return x<<3;"), asks, &["unknown"]),
        (program("if(x>9||x<0) return 0; return x<<3;"), asks, &["safe"]),
        (program("return x<<3;"), asks, &["unsafe"]),
        (program("if(x>9) return 0; x<<3; x=2147483647; return x+1;"), asks, &["unsafe"]),
        (program("return 1<<31;"), asks, &["unsafe"]),
        (program("return 1u<<31;"), asks, &["safe"]),
        (program("return 1<<30;"), asks, &["safe"]),
    ];
    judge("shifted", &cases);
    let _ = fs::remove_file(file);
}

/// What the compiler computes itself is checked, too, where a run comes to it.
#[test]
fn constants_that_do_not_fit_are_errors() {
    let all: &'static [&'static str] = &["--checks", "overflow"];
    // The sanitizer of the compiler says nothing about what it has computed itself.
    let open: &'static [&'static str] = &["unsafe", "unknown"];
    let cases: [Case; 12] = [
        ("int main(void){ return 2147483647+1; }", all, open),
        ("int main(void){ return -2147483647-2; }", all, open),
        ("int main(void){ return 65536*65536; }", all, open),
        ("int main(void){ return -(-2147483647-1); }", all, &["unsafe"]),
        ("int main(void){ long x=2147483647*2; return x==-2; }", all, open),
        ("int main(void){ return (-2147483647-1)/-1; }", all, &["unsafe"]),
        ("int main(void){ return 0 && 2147483647+1; }", all, &["safe"]),
        ("int main(void){ return sizeof(2147483647+1); }", all, &["safe"]),
        ("int main(void){ return 2147483647+1u; }", all, &["safe"]),
        ("int main(void){ return 2147483647+1L==0; }", all, &["safe"]),
        ("int main(void){ return (short)32767+1; }", all, &["safe"]),
        ("int f(void){ return 2147483647+1; } int main(void){ return 0; }", all, &["safe"]),
    ];
    judge("constants", &cases);
}

/// A program has a name, and gets at least that.
#[test]
fn main_gets_at_least_one_argument() {
    let program = |condition: &str| -> &'static str {
        format!("int main(int argc,char**argv){{ if({condition}) reach_error(); return 0; }}").leak()
    };
    let cases: [Case; 5] = [
        (program("argc<0"), &[], &["safe"]),
        (program("argc==0"), &[], &["safe"]),
        (program("argc==1"), &[], &["unsafe"]),
        (program("argc==3"), &[], &["unsafe"]),
        ("int f(int argc){ if(argc<0) reach_error(); return 0; }", &["--entry", "f"], &["unsafe"]),
    ];
    judge("argc", &cases);
}

/// What belongs to no member of a structure is not lost where the structure is copied.
#[test]
fn padding_that_is_seen_is_not_what_was_there_before() {
    let head = "void*memset(void*,int,unsigned long); struct s{char c;int i;};";
    let before = "struct s a,b; memset(&a,7,sizeof a); memset(&b,9,sizeof b); char*p=(char*)&b; p[2]=9;";
    let program = |text: &str, condition: &str| -> &'static str {
        format!("{head} int z; {text} if({condition}) reach_error(); return 0; }}").leak()
    };
    let main = format!("int main(void){{ {before}");
    let passed = "int f(struct s x){ char*p=(char*)&x; int r=p[1]; p[1]=3; return r; }
        int main(void){ struct s a; memset(&a,7,sizeof a); f(a); memset(&a,8,sizeof a); int r=f(a);";
    let returned = "struct s g(int v){ struct s r; memset(&r,v,sizeof r); return r; }
        int main(void){ struct s a=g(4); char*p=(char*)&a; p[0]=p[0];";
    let fails: &'static [&'static str] = &["unsafe", "unknown"];
    let holds: &'static [&'static str] = &["safe", "unknown"];
    let mut cases: Vec<Case> = Vec::new();
    for copy in ["b=a;", "b=z?b:a;", "struct s d; b=d=a;"] {
        let text = format!("{main} {copy}");
        cases.push((program(&text, "p[1]==7"), &[], fails));
        cases.push((program(&text, "p[1]!=7"), &[], holds));
        cases.push((program(&text, "p[0]!=7||b.i!=0x07070707"), &[], &["safe"]));
    }
    cases.push((program(passed, "r==8"), &[], fails));
    cases.push((program(passed, "r!=8"), &[], holds));
    cases.push((program(returned, "p[1]==4"), &[], fails));
    cases.push((program(returned, "p[1]!=4"), &[], holds));
    judge("padding", &cases);
}

/// Objects of ours have names, and programs may have the same ones.
#[test]
fn objects_of_any_name_end_with_their_scope() {
    let program = |name: &str, body: &str| -> &'static str {
        format!("int *keep; {} int main(void){{ int *p=f(1); return *p+*keep; }}", body.replace("NAME", name))
            .leak()
    };
    let mut cases: Vec<Case> = Vec::new();
    for name in ["literal", "arguments", "temporary", "length", "other"] {
        let kept = "int own[1]; int *f(int v){ int NAME[2]={v,2}; keep=NAME; return own; }";
        let returned = "int own[1]; int *f(int v){ keep=own; int NAME[2]={v,2}; int *p=NAME; return p; }";
        let both = "int *f(int v){ static int NAME[2]; NAME[0]=v; keep=NAME; return NAME; }";
        cases.push((program(name, kept), &["--checks", "default"], &["unsafe"]));
        cases.push((program(name, returned), &["--checks", "default"], &["unsafe"]));
        cases.push((program(name, both), &["--checks", "memory"], &["safe"]));
    }
    judge("scopes", &cases);
}

/// A compound literal is there until the block around it ends.
#[test]
fn compound_literals_live_as_long_as_the_block_around() {
    let program = |functions: &str, statements: &str| -> &'static str {
        format!(
            "typedef struct {{ int on; const char *name; }} opts; int *keep;\n\
             static int run(const opts *o) {{ return o->on + o->name[0]; }}\n{functions}\n\
             int main(void) {{ int s = 0; {statements} return s; }}"
        )
        .leak()
    };
    let ends: &'static [&'static str] = &["unsafe", "unknown"];
    let mut cases: Vec<Case> = Vec::new();
    for (functions, statements, right) in [
        ("", "s = run(&(opts) { .on = 1, .name = \"x\" });", &["safe"][..]),
        ("static int f(void) { return run(&(opts) { 1, \"x\" }); }", "s = f() + f();", &["safe"]),
        ("", "int *p = (int []) { 1, 2 }; p[1] += p[0]; keep = p; s = keep[1];", &["safe"]),
        (
            "static int f(int n) { int *p = (int []) { n }; return n ? f(n - 1) + *p : *p; }",
            "s = f(2);",
            &["safe"],
        ),
        ("static void f(void) { keep = (int []) { 3 }; }", "f(); s = *keep;", ends),
        ("static int *f(void) { int *p = (int []) { 3 }; return p; }", "s = *f();", ends),
        ("", "int *p = 0; for (int i = 0; i < 2; i++) p = (int []) { i }; s = *p;", ends),
        ("", "int *p = 0; if (!s) { p = &(int) { 4 }; } s = *p;", ends),
        ("", "int *p = ({ int *q = (int []) { 3 }; q; }); s = *p;", ends),
    ] {
        cases.push((program(functions, statements), &["--checks", "memory"], right));
    }
    judge("literals", &cases);
}

/// A weak definition is the function if there is no other, also where its body is not modelled.
#[test]
fn weak_definitions_are_not_given_up() {
    let not_modelled = "unsigned long t = __builtin_ia32_rdtsc();";
    let main = "int main(void){ f(); if (g) reach_error(); return 0; }";
    let mut cases: Vec<Case> = Vec::new();
    for head in [
        "__attribute__((weak)) void f(void)",
        "void f(void) __attribute__((weak)); void f(void)",
        "void f(void)",
    ] {
        let text = |body: &str| -> &'static str { format!("int g; {head} {{ {body} }} {main}").leak() };
        cases.push((text(&format!("{not_modelled} g = 1;")), &[], &["unsafe", "unknown"]));
        cases.push((text(&format!("g = 1; {not_modelled}")), &[], &["unsafe", "unknown"]));
        cases.push((text("g = 1;"), &[], &["unsafe"]));
        cases.push((text("g = 0;"), &[], &["safe"]));
    }
    judge("weak", &cases);
}
