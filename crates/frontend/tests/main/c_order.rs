//! Where C leaves the order of evaluation open, it is that of gcc on x86.

use crate::c_support::{RESULTS, compare};

/// What the programs share: functions with effects on everything that can be read.
const COMMON: &str = "
int g, a[4], b[4], i, tr; short sh; char c[4]; struct S { int v, w; } s, t, *sp = &s; int *p = &g; struct { unsigned b : 5; } bf;
int f(void) { g = 100; a[0] = 100; a[1] = 200; s.v = 100; i = 1; sh = 100; bf.b = 20; return 1; }
int h2(int x, int y) { return x * 10 + y; } int h3(int x, int y, int z) { return x * 100 + y * 10 + z; } int id(int x) { return x; }
int z2(int x) { return x; } int z3(int x) { return x + 1000; } int (*fp)(int); int sw(void) { fp = z3; return 5; }
int g1(void) { tr = tr * 10 + 1; return 1; } int g2(void) { tr = tr * 10 + 2; return 2; } int g3(void) { tr = tr * 10 + 3; return 3; }
int *hp(void) { tr = tr * 10 + 4; return a; } struct S *hs(void) { tr = tr * 10 + 5; return &s; } int pb(void) { p = b; return 1; }
int fs(void) { sp = &t; return 3; } struct S fst(void) { i = 1; sp = &t; struct S r = {7, 8}; return r; }
void init(void) { tr = 0; g = 1; i = 0; sh = 1; bf.b = 1; p = &g; sp = &s; fp = z2; for (int k = 0; k < 4; k++) { a[k] = k + 1; b[k] = 10 * k; c[k] = 0; } s.v = s.w = t.v = t.w = 0; }
";

/// Compares the values of expressions, some at a time, and what they leave behind.
fn orders(name: &str, statements: &[&str]) {
    for (i, chunk) in statements.chunks(RESULTS).enumerate() {
        let mut text = format!("unsigned long long result[{RESULTS}];{COMMON}int main(void) {{\n");
        for (k, statement) in chunk.iter().enumerate() {
            text.push_str(&format!(
                "  init(); {{ int r = 0, x = 1, y = 2, *q = &y; int (*lp)(int) = z2; {statement}; \
                 result[{k}] = r + 31 * (x + y + tr + g + 7 * (i + s.v + 3 * t.v + sh + bf.b) \
                 + a[0] * 1000 + a[1] * 100 + a[2] * 10 + a[3] + c[0] + 2 * c[1] + 5 * b[0] + 6 * b[1]); }}\n"
            ));
        }
        text.push_str("  return 0;\n}\n");
        compare(&format!("{name}{i}"), &text);
    }
}

#[test]
fn operands_are_fixed_from_left_to_right_and_variables_are_read_late() {
    orders(
        "operands",
        &[
            "r = g+f()",
            "r = f()+g",
            "r = g-f()",
            "r = g==f()",
            "r = (g==1)&(f()==1)",
            "r = (int)g+f()",
            "r = (char)g+f()",
            "r = (unsigned)g+f()",
            "r = a[i]+f()",
            "r = a[g]+f()",
            "r = *p+f()",
            "r = s.v+f()",
            "r = sp->v+f()",
            "r = sh+f()",
            "r = bf.b+f()",
            "r = x+(x=5)",
            "r = x+x++",
            "r = x++ + x",
            "r = x + ++x",
            "r = a[i]+a[++i]",
            "r = a[i++]+a[i]",
            "r = a[x]+(x=0)",
            "r = g+(g=5)",
            "r = (x=3)+x",
            "r = (g=3)+(g=4)",
            "r = x*2+(x=5)",
            "r = x<(x=5)",
            "r = y+(*q=7)",
            "r = (x,x)+(x=5)",
            "r = h2(g,f())",
            "r = h2(f(),g)",
            "r = h2(x,x=5)",
            "r = h2(x++,x)",
            "r = h2(x,x++)",
            "r = h2(x+1,x=5)",
            "r = h2(a[i],f())",
            "r = h2(g+1,f())",
            "r = h2(sh,f())",
            "r = h3(x,x++,x)",
            "r = h2(x++,x++)",
            "r = h2(*p,f())",
            "r = fp(sw())",
            "r = (*fp)(sw())",
            "r = (g?g:2)+f()",
            "r = (g&&1)+f()",
            "r = !g+f()",
            "r = (g>0)+f()",
            "r = g/2+f()",
            "r = id(g)+f()",
            "r = ({g;})+f()",
            "r = (g,g)+f()",
            "r = (x=g)+f()",
            "r = p[i]+f()",
            "r = g<<f()",
            "r = g*f()+g",
            "r = g+(f()+g)",
            "r = (g+f())+g",
            "r = a[f()]+a[i]",
            "r = a[i]+a[f()]",
            "r = x + (f(), x=3)",
            "r = f()+x+(x=4)",
            "r = g+(x?f():0)",
            "r = g + (g ? f() : 0)",
            "r = x + ({x=7;1;})",
            "r = a[x]-({x=0;1;})",
            "r = x+(y=x=9)",
            "r = x*x+(x=2)",
            "r = (x+y)*(x=4)",
            "r = (x>0?x:y)+(x=6)",
            "r = p[pb()]",
            "r = *(p+pb())",
            "r = *p+p[pb()]",
            "r = x-(x=5)",
            "r = x-x++",
            "r = g-(g=5)",
            "r = x<<(x=2)",
            "r = x/(x=2)",
            "r = g/(g=2)",
            "r = g1()>g2()",
            "r = g1()>=g2()",
            "r = g1()<g2()",
            "r = g1()+g2()*g3()",
            "r = (g1()+g2())*g3()",
            "r = g1()-g2()",
            "r = lp((lp=z3,5))",
            "r = h3(g1(),g2(),g3())",
            "r = a[g1()]+a[g2()]",
            "r = a[i]>f()",
            "r = f()>a[i]",
            "r = i>f()",
            "r = f()>i",
            "r = i>=(i=1)",
            "r = a[i]>=(i=1)",
        ],
    );
}

#[test]
fn what_is_assigned_is_evaluated_before_the_place_unless_it_is_a_call() {
    orders(
        "assignments",
        &[
            "a[i]=f()",
            "*p=f()",
            "a[i]=i++",
            "a[i]=(i=1)",
            "a[x]=(x=2)",
            "g+=f()",
            "a[i]+=f()",
            "x+=(x=5)",
            "x+=x++",
            "g=g+f()",
            "a[0]+=f()",
            "*p+=f()",
            "s.v+=f()",
            "y+=(*q=7)",
            "g-=f()",
            "sh+=f()",
            "bf.b+=f()",
            "a[i]=g+f()",
            "*p=(p=a,5)",
            "p[i]=(i=1,9)",
            "a[a[0]]=(a[0]=3,8)",
            "a[i+1]=f()",
            "*(p+0)=(p=a,5)",
            "a[g1()]=g2()",
            "a[g1()]=g2()+1",
            "*hp()=g2()",
            "*hp()=g2()+1",
            "hs()->v=g2()",
            "hs()->v=g2()+1",
            "a[g1()]+=g2()",
            "*hp()+=g2()",
            "a[g1()]=a[g2()]",
            "c[g1()]=g2()",
            "c[i]=f()",
            "a[i]=(char)f()",
            "a[i]=-f()",
            "a[i]=(i?1:f())",
            "sp->v=fs()",
            "sp->v=fs()+1",
            "*sp=fst()",
            "a[i]=x?f():0",
            "a[i+1]=f()+1",
            "a[i]=(0,f())",
            "x=a[x]+id(x=0)",
            "x=id(x)+id(x=5)",
            "x=h3(x,g1(),g2())",
            "struct S w={g1(),g2()};x=w.v",
            "int w[2]={[1]=g1(),[0]=g2()};x=w[0]",
            "t=(struct S){g1(),g2()}",
            "struct S w={i,f()};x=w.v",
            "struct S w={.w=i,.v=f()};x=w.w",
            "t=(struct S){i,f()}",
            "a[i]=i=3",
            "a[i]=b[i]=f()",
            "g=i+(i=4)",
            "int w[2]={g,f()};x=w[0]",
            "int w[2]={x,x=5};x=w[0]",
            "int w[2]={x=5,x};x=w[1]",
            "int *w=(int[]){g,f()};x=w[0]",
            "static int w[2];w[i]=f();x=w[0]",
        ],
    );
}
