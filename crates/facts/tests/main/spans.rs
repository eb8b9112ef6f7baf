//! Spaces of rational vectors, for comparisons: the test's own.

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// The reduced echelon form, each row in lowest terms with a positive leading entry.
pub fn echelon(mut rows: Vec<Vec<i128>>) -> Vec<Vec<i128>> {
    let columns = rows.first().map_or(0, Vec::len);
    let mut done = 0;
    for column in 0..columns {
        let Some(at) = (done..rows.len()).find(|at| rows[*at][column] != 0) else { continue };
        rows.swap(done, at);
        for other in 0..rows.len() {
            if other != done && rows[other][column] != 0 {
                let pivot = rows[done].clone();
                let (a, b) = (pivot[column], rows[other][column]);
                for (x, y) in rows[other].iter_mut().zip(pivot) {
                    *x = *x * a - y * b;
                }
                normalise(&mut rows[other]);
            }
        }
        done += 1;
    }
    rows.truncate(done);
    rows.iter_mut().for_each(|row| normalise(row));
    rows
}

fn normalise(row: &mut [i128]) {
    let common = row.iter().fold(0, |common, x| gcd(common, *x));
    let negative = row.iter().find(|x| **x != 0).is_some_and(|x| *x < 0);
    if common != 0 {
        let by = if negative { -common } else { common };
        row.iter_mut().for_each(|x| *x /= by);
    }
}
