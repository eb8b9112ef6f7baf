//! Programs with threads of growing size, each for `wherefore` and, as a twin in Promela, for SPIN.

use std::fmt::Write;

use wherefore_frontend::Language;

/// A program and its twin.
pub struct Model {
    pub name: String,
    pub language: Language,
    pub text: String,
    pub promela: String,
    pub fails: bool,
}

/// The driver model of BlueTooth with some adders and stoppers. *Plain*: an increment of the
/// counter is a read and a write, and a stopper does not look whether there is another one; fails
/// with four switches. Else both are one step, and the program is safe.
pub fn bluetooth(adders: usize, stoppers: usize, is_plain: bool) -> Model {
    let bits = (adders + 2).next_power_of_two().trailing_zeros() as usize;
    let list = |prefix: &str| (0..bits).rev().map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(", ");
    // Addition and subtraction of one, bit by bit.
    let changed = |prefix: &str, sign: &str| {
        let bit = |i: usize| {
            let lower: Vec<String> = (0..i).map(|j| format!("{sign}{prefix}{j}")).collect();
            match lower.is_empty() {
                true => format!("!{prefix}{i}"),
                false => format!("{prefix}{i} ^ ({})", lower.join(" & ")),
            }
        };
        (0..bits).rev().map(bit).collect::<Vec<_>>().join(", ")
    };
    let zero = (0..bits).map(|i| format!("!p{i}")).collect::<Vec<_>>().join(" & ");
    let increment = match is_plain {
        true => format!("{} := {};\n  {} := {};", list("q"), list("p"), list("p"), changed("q", "")),
        false => format!("{} := {};", list("p"), changed("p", "")),
    };
    let stop = match is_plain {
        true => "stopping := T;\n  leave();",
        false => "first, stopping := !stopping, T;\n  if (first) then leave(); fi;",
    };
    let mut text = format!(
        "decl {p}, stopping, event, stopped;
bool enter() begin
  decl {q};
  {increment}
  return stopping;
end
void leave() begin
  decl zero;
  atomic_begin;
  {p} := {minus};
  zero := {zero};
  atomic_end;
  if (zero) then event := T; fi;
end
void adder() begin
  decl refused;
  refused := enter();
  if (!refused) then assert(!stopped); fi;
  leave();
end
void stopper() begin
  decl first;
  {stop}
  assume(event);
  stopped := T;
end
void main() begin
  {p} := {one};
  stopping, event, stopped := F, F, F;
",
        p = list("p"),
        q = list("q"),
        minus = changed("p", "!"),
        one = (0..bits).rev().map(|i| if i == 0 { "T" } else { "F" }).collect::<Vec<_>>().join(", "),
    );
    let (plus, first) = match is_plain {
        true => ("now = pending; pending = now + 1;", "stopping = true; leave();"),
        false => (
            "pending++;",
            "d_step { first = !stopping; stopping = true }; if :: first -> leave() :: else fi;",
        ),
    };
    let mut promela = format!(
        "byte pending = 1; bool stopping, event, stopped;
inline leave() {{ d_step {{ pending--; zero = (pending == 0) }}; if :: zero -> event = true :: else fi }}
proctype adder() {{ byte now; bool refused, zero;
  {plus} refused = stopping;
  if :: !refused -> assert(!stopped) :: else fi; leave() }}
proctype stopper() {{ bool first, zero; {first} event; stopped = true }}
init {{ atomic {{ "
    );
    let starts = (0..adders).map(|_| "adder()").chain((0..stoppers).map(|_| "stopper()"));
    let starts: Vec<&str> = starts.collect();
    for start in &starts {
        let _ = writeln!(text, "  start_thread {start};");
    }
    text += "end\n";
    promela += &starts.iter().map(|start| format!("run {start}")).collect::<Vec<_>>().join("; ");
    promela += " } }\n";
    let kind = if is_plain { "plain" } else { "repaired" };
    let name = format!("BlueTooth {kind}, {adders} adders, {stoppers} stoppers");
    Model { name, language: Language::Boolean, text, promela, fails: is_plain }
}

/// Mutual exclusion among `n` threads for ever: the body of a thread before and behind its critical
/// section, in the common part of Remopla and Promela.
struct Lock {
    name: &'static str,
    shared: &'static str,
    locals: &'static str,
    start: &'static str,
    enter: &'static str,
    leave: &'static str,
}

/// Peterson's filter. Without its last level it fails.
const PETERSON: Lock = Lock {
    name: "Peterson",
    shared: "INT pos[SIZE]WIDTH; INT step[SIZE]WIDTH;",
    locals: "INT j WIDTH; INT k WIDTH;",
    start: "",
    enter: "j = 1;
  do
  :: j < LEVELS ->
    pos[i] = j; step[j] = i;
    again: k = 1;
    do
    :: k <= N && (k == i || pos[k] < j || step[j] != i) -> k = k + 1;
    :: k <= N && k != i && pos[k] >= j && step[j] == i -> goto again;
    :: k > N -> break;
    od;
    j = j + 1;
  :: j >= LEVELS -> break;
  od;",
    leave: "pos[i] = 0;",
};

/// Lamport's bakery; a thread that would get a ticket above 6 looks again. Without the doorway it
/// fails.
const BAKERY: Lock = Lock {
    name: "Bakery",
    shared: "BOOL choosing[SIZE]; INT ticket[SIZE]WIDTH;",
    locals: "INT m WIDTH; INT k WIDTH;",
    start: "",
    enter: "DOORWAY
  again: m = 0; k = 1;
  do
  :: k <= N && ticket[k] > m -> m = ticket[k]; k = k + 1;
  :: k <= N && ticket[k] <= m -> k = k + 1;
  :: k > N -> break;
  od;
  if :: m < 6 -> skip; :: m >= 6 -> goto again; fi;
  ticket[i] = m + 1;
  choosing[i] = false;
  k = 1;
  do
  :: k <= N ->
    WAIT(!choosing[k]);
    WAIT(ticket[k] == 0 || ticket[k] > ticket[i] || (ticket[k] == ticket[i] && k >= i));
    k = k + 1;
  :: k > N -> break;
  od;",
    leave: "ticket[i] = 0;",
};

/// Anderson's queue of slots. It fails if a slot is taken in two steps.
const ANDERSON: Lock = Lock {
    name: "Anderson",
    shared: "BOOL slot[SIZE]; INT next WIDTH;",
    locals: "INT mine WIDTH;",
    start: "slot[1] = true; next = 1;",
    enter: "TAKE
  WAIT(slot[mine]);
  slot[mine] = false;",
    leave: "if :: mine < N -> slot[mine + 1] = true; :: mine >= N -> slot[1] = true; fi;",
};

/// Peterson's filter for `n` threads.
pub fn peterson(n: usize, fails: bool) -> Model {
    let levels = if fails { n - 1 } else { n };
    mutual_exclusion(&PETERSON, n, fails, &|text, _| text.replace("LEVELS", &levels.to_string()))
}

/// The bakery for `n` threads.
pub fn bakery(n: usize, fails: bool) -> Model {
    let doorway = if fails { "" } else { "choosing[i] = true;" };
    mutual_exclusion(&BAKERY, n, fails, &|text, _| text.replace("DOORWAY", doorway))
}

/// The queue of slots for `n` threads.
pub fn anderson(n: usize, fails: bool) -> Model {
    let after = |slot: &str, is_promela: bool| match is_promela {
        true => format!("({slot} < {n} -> {slot} + 1 : 1)"),
        // Numbers of Remopla have no conditional expression.
        false => format!("(({slot} % {n}) + 1)"),
    };
    mutual_exclusion(&ANDERSON, n, fails, &|text, is_promela| {
        let take = match (fails, is_promela) {
            (true, _) => format!("mine = next; next = {};", after("mine", is_promela)),
            (false, true) => format!("d_step {{ mine = next; next = {} }};", after("mine", true)),
            (false, false) => format!("mine = next, next = {};", after("next", false)),
        };
        text.replace("TAKE", &take)
    })
}

fn mutual_exclusion(lock: &Lock, n: usize, fails: bool, fill: &dyn Fn(&str, bool) -> String) -> Model {
    let bits = (n + 2).next_power_of_two().trailing_zeros().max(3);
    let one = |text: &str, is_promela: bool| {
        let text = fill(text, is_promela);
        match is_promela {
            true => text
                .replace("INT ", "byte ")
                .replace("BOOL ", "bool ")
                .replace(" WIDTH", "")
                .replace("WIDTH", "")
                .replace("SIZE", &(n + 1).to_string())
                .replace("WAIT", ""),
            false => text
                .replace("INT ", "int ")
                .replace("BOOL ", "bool ")
                .replace(" WIDTH", &format!("({bits})"))
                .replace("WIDTH", &format!("({bits})"))
                .replace("SIZE", &format!("1,{n}"))
                .replace("WAIT", "skip "),
        }
    };
    let shared = one(lock.shared, false).replace("int ", "shared int ").replace("bool ", "shared bool ");
    let arrays: Vec<&str> = ["pos", "step", "ticket", "choosing", "slot"]
        .into_iter()
        .filter(|name| lock.shared.contains(&format!("{name}[")))
        .collect();
    let zero = |name: &&str| {
        let value = if ["choosing", "slot"].contains(name) { "false" } else { "0" };
        format!("  A x (1,{n}) {name}[x] = {value};\n")
    };
    let text = format!(
        "define N {n}
{shared} shared int critical({bits});
module void p(int i({bits})) {{
  {locals}
  do
  :: true ->
  {enter}
  critical = critical + 1;
  if :: critical != 1 -> error: skip; :: else -> skip; fi;
  critical = critical - 1;
  {leave}
  od;
}}
module void main() {{
{zeros}  critical = 0;
  {start}
{forks}}}
",
        locals = one(lock.locals, false),
        enter = one(lock.enter, false),
        leave = one(lock.leave, false),
        zeros = arrays.iter().map(zero).collect::<String>(),
        start = lock.start,
        forks = (1..=n).map(|i| format!("  fork p({i});\n")).collect::<String>(),
    );
    let promela = format!(
        "#define N {n}
{shared} byte critical;
proctype P(byte i) {{ {locals}
  do
  :: true ->
  {enter}
  critical++; assert(critical == 1); critical--;
  {leave}
  od
}}
init {{ atomic {{ {start} {runs} }} }}
",
        shared = one(lock.shared, true),
        locals = one(lock.locals, true),
        enter = one(lock.enter, true),
        leave = one(lock.leave, true),
        start = lock.start,
        runs = (1..=n).map(|i| format!("run P({i})")).collect::<Vec<_>>().join("; "),
    );
    let name = format!("{}, {n} threads{}", lock.name, if fails { ", broken" } else { "" });
    Model { name, language: Language::Remopla, text, promela, fails }
}
