//! Graphs drawn in layers: cycles are cut at back edges, points are layered by longest paths, long
//! edges get a bend in each layer, layers are ordered by barycentres, and bends are pulled
//! straight.
//!
//! The layout needs no tool beside it, so that a page can be written anywhere. **Cost:** linear in
//! points and bends for each sweep.

/// The most points and bends that are drawn.
const MOST_PLACES: usize = 12_000;
const SWEEPS: usize = 6;

/// The sizes that a layout keeps to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spacing {
    /// Between points of a layer.
    pub(super) between: f64,
    /// Between layers.
    pub(super) layers: f64,
}

/// Where everything is.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    /// The middle of each point.
    pub(super) points: Vec<(f64, f64)>,
    /// The bends of each edge, from its start to its end; empty for an edge that points nowhere or
    /// at its own start.
    pub(super) edges: Vec<Vec<(f64, f64)>>,
}

/// A point, or a bend of an edge, in its layer.
struct Place {
    layer: usize,
    width: f64,
    /// Neighbours in the layer above and below.
    above: Vec<usize>,
    below: Vec<usize>,
    x: f64,
}

/// Draws a graph of points with sizes; edges are from, to. None if it is too large.
pub(super) fn layout(sizes: &[(f64, f64)], edges: &[(usize, usize)], spacing: Spacing) -> Option<Layout> {
    let count = sizes.len();
    let sound = |&(from, to): &(usize, usize)| from < count && to < count && from != to;
    let back = back_edges(count, edges);
    let down: Vec<Option<(usize, usize)>> = edges
        .iter()
        .enumerate()
        .map(|(position, edge)| sound(edge).then(|| if back[position] { (edge.1, edge.0) } else { *edge }))
        .collect();
    let layers = longest_paths(count, &down);
    let mut places: Vec<Place> = layers
        .iter()
        .zip(sizes)
        .map(|(&layer, size)| Place { layer, width: size.0, above: vec![], below: vec![], x: 0.0 })
        .collect();
    let mut chains: Vec<Vec<usize>> = Vec::with_capacity(edges.len());
    for edge in &down {
        let Some((from, to)) = *edge else {
            chains.push(Vec::new());
            continue;
        };
        let mut chain = vec![from];
        for layer in layers[from] + 1..layers[to] {
            places.push(Place { layer, width: 8.0, above: vec![], below: vec![], x: 0.0 });
            chain.push(places.len() - 1);
        }
        chain.push(to);
        for pair in chain.windows(2) {
            places[pair[0]].below.push(pair[1]);
            places[pair[1]].above.push(pair[0]);
        }
        if places.len() > MOST_PLACES {
            return None;
        }
        chains.push(chain);
    }
    let mut rows = order(&places);
    position(&mut places, &mut rows, spacing);
    Some(finish(sizes, &places, &rows, &chains, &back, spacing))
}

/// Which edges close a cycle, in a depth-first search from the first point, then from the others.
fn back_edges(count: usize, edges: &[(usize, usize)]) -> Vec<bool> {
    let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (position, &(from, to)) in edges.iter().enumerate() {
        if from < count && to < count {
            leaving[from].push(position);
        }
    }
    let mut back = vec![false; edges.len()];
    // 0: new, 1: on the path, 2: left.
    let mut state = vec![0_u8; count];
    for root in 0..count {
        if state[root] != 0 {
            continue;
        }
        state[root] = 1;
        let mut path = vec![(root, 0)];
        while let Some((point, next)) = path.last_mut() {
            let Some(&edge) = leaving[*point].get(*next) else {
                state[*point] = 2;
                path.pop();
                continue;
            };
            *next += 1;
            let to = edges[edge].1;
            match state[to] {
                0 => {
                    state[to] = 1;
                    path.push((to, 0));
                }
                1 => back[edge] = true,
                _ => {}
            }
        }
    }
    back
}

/// The layer of each point: one below the lowest of its predecessors.
fn longest_paths(count: usize, down: &[Option<(usize, usize)>]) -> Vec<usize> {
    let mut waiting = vec![0_usize; count];
    let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); count];
    for &(from, to) in down.iter().flatten() {
        waiting[to] += 1;
        leaving[from].push(to);
    }
    let mut layers = vec![0; count];
    let mut ready: Vec<usize> = (0..count).filter(|&point| waiting[point] == 0).collect();
    while let Some(point) = ready.pop() {
        for &to in &leaving[point] {
            layers[to] = layers[to].max(layers[point] + 1);
            waiting[to] -= 1;
            if waiting[to] == 0 {
                ready.push(to);
            }
        }
    }
    layers
}

/// The places of each layer, from left to right.
fn order(places: &[Place]) -> Vec<Vec<usize>> {
    let depth = places.iter().map(|place| place.layer + 1).max().unwrap_or(0);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); depth];
    for (position, place) in places.iter().enumerate() {
        rows[place.layer].push(position);
    }
    let mut rank = vec![0.0_f64; places.len()];
    let number = |row: &[usize], rank: &mut [f64]| {
        for (position, &place) in row.iter().enumerate() {
            rank[place] = position as f64;
        }
    };
    for row in &rows {
        number(row, &mut rank);
    }
    for sweep in 0..SWEEPS {
        let downwards = sweep % 2 == 0;
        for step in 0..depth {
            let layer = if downwards { step } else { depth - 1 - step };
            let key = |place: usize| {
                let near = if downwards { &places[place].above } else { &places[place].below };
                match near.len() {
                    0 => rank[place],
                    count => near.iter().map(|&other| rank[other]).sum::<f64>() / count as f64,
                }
            };
            let mut row: Vec<(f64, usize)> = rows[layer].iter().map(|&place| (key(place), place)).collect();
            row.sort_by(|a, b| a.0.total_cmp(&b.0));
            rows[layer] = row.into_iter().map(|(_, place)| place).collect();
            number(&rows[layer], &mut rank);
        }
    }
    rows
}

/// Gives each place its `x`: as near to its neighbours as the order allows.
fn position(places: &mut [Place], rows: &mut [Vec<usize>], spacing: Spacing) {
    for row in rows.iter() {
        let mut x = 0.0;
        for &place in row {
            places[place].x = x + places[place].width / 2.0;
            x += places[place].width + spacing.between;
        }
    }
    for sweep in 0..SWEEPS * 2 {
        let downwards = sweep % 2 == 0;
        for step in 0..rows.len() {
            let layer = if downwards { step } else { rows.len() - 1 - step };
            let wish = |place: &Place| {
                let near = if downwards { &place.above } else { &place.below };
                let near =
                    if near.is_empty() { if downwards { &place.below } else { &place.above } } else { near };
                match near.len() {
                    0 => place.x,
                    count => near.iter().map(|&other| places[other].x).sum::<f64>() / count as f64,
                }
            };
            let wishes: Vec<f64> = rows[layer].iter().map(|&place| wish(&places[place])).collect();
            let widths: Vec<f64> =
                rows[layer].iter().map(|&place| places[place].width + spacing.between).collect();
            for (&place, x) in rows[layer].iter().zip(spread(&wishes, &widths)) {
                places[place].x = x;
            }
        }
    }
}

/// Places on a line, in order and without overlap, as near to the wishes as can be: neighbours that
/// would overlap become blocks that move to the mean of their wishes (isotonic regression by
/// pooling).
fn spread(wishes: &[f64], widths: &[f64]) -> Vec<f64> {
    // Offsets turn "at least so far apart" into "not descending".
    let mut offsets = Vec::with_capacity(wishes.len());
    let mut offset = 0.0;
    for (position, width) in widths.iter().enumerate() {
        if position > 0 {
            offset += (widths[position - 1] + width) / 2.0;
        }
        offsets.push(offset);
    }
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (wish, offset) in wishes.iter().zip(&offsets) {
        blocks.push((wish - offset, 1));
        while let [.., (left, many), (right, more)] = blocks[..] {
            if left <= right {
                break;
            }
            let all = many + more;
            let mean = (left * many as f64 + right * more as f64) / all as f64;
            blocks.truncate(blocks.len() - 2);
            blocks.push((mean, all));
        }
    }
    let starts = blocks.into_iter().flat_map(|(start, many)| std::iter::repeat_n(start, many));
    starts.zip(offsets).map(|(start, offset)| start + offset).collect()
}

fn finish(
    sizes: &[(f64, f64)],
    places: &[Place],
    rows: &[Vec<usize>],
    chains: &[Vec<usize>],
    back: &[bool],
    spacing: Spacing,
) -> Layout {
    let left = places.iter().map(|place| place.x - place.width / 2.0).fold(f64::INFINITY, f64::min);
    let right = places.iter().map(|place| place.x + place.width / 2.0).fold(f64::NEG_INFINITY, f64::max);
    let mut middles = Vec::with_capacity(rows.len());
    let mut y = 0.0;
    for row in rows {
        let height = row.iter().filter_map(|&place| sizes.get(place)).map(|size| size.1).fold(0.0, f64::max);
        middles.push(y + height / 2.0);
        y += height + spacing.layers;
    }
    let at = |place: usize| (places[place].x - left, middles[places[place].layer]);
    let edge = |(chain, &is_back): (&Vec<usize>, &bool)| {
        let mut bends: Vec<(f64, f64)> = chain.iter().map(|&place| at(place)).collect();
        if let [first, .., last] = chain[..] {
            let count = bends.len();
            bends[0].1 += sizes[first].1 / 2.0;
            bends[count - 1].1 -= sizes[last].1 / 2.0;
        }
        if is_back {
            bends.reverse();
        }
        bends
    };
    Layout {
        width: if places.is_empty() { 0.0 } else { right - left },
        height: (y - spacing.layers).max(0.0),
        points: (0..sizes.len()).map(at).collect(),
        edges: chains.iter().zip(back).map(edge).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACING: Spacing = Spacing { between: 10.0, layers: 20.0 };

    fn draw(count: usize, edges: &[(usize, usize)]) -> Layout {
        layout(&vec![(20.0, 10.0); count], edges, SPACING).expect("it is small")
    }

    #[test]
    fn edges_lead_down() {
        let layout = draw(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
        assert!(layout.points[0].1 < layout.points[1].1);
        assert_eq!(layout.points[1].1, layout.points[2].1);
        assert!(layout.points[2].1 < layout.points[3].1);
    }

    #[test]
    fn a_back_edge_leads_up_and_ends_where_it_should() {
        let layout = draw(3, &[(0, 1), (1, 2), (2, 0)]);
        let bends = &layout.edges[2];
        assert!(bends[0].1 > bends[bends.len() - 1].1);
        assert_eq!(bends[0].0, layout.points[2].0);
    }

    #[test]
    fn points_of_a_layer_do_not_overlap() {
        let edges: Vec<(usize, usize)> = (1..9).flat_map(|to| [(0, to), (to, 9)]).collect();
        let layout = draw(10, &edges);
        let mut xs: Vec<f64> = layout.points[1..9].iter().map(|point| point.0).collect();
        xs.sort_by(f64::total_cmp);
        assert!(xs.windows(2).all(|pair| pair[1] - pair[0] >= 30.0 - 1e-9), "{xs:?}");
        assert!(layout.points.iter().all(|&(x, y)| (0.0..=layout.width).contains(&x) && y <= layout.height));
    }

    #[test]
    fn odd_edges_are_left_out() {
        let layout = draw(2, &[(0, 0), (0, 7), (0, 1)]);
        assert!(layout.edges[0].is_empty() && layout.edges[1].is_empty() && !layout.edges[2].is_empty());
        assert_eq!(draw(0, &[]).width, 0.0);
    }
}
