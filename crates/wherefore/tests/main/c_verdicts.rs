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
