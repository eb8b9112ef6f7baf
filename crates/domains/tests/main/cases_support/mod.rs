//! Reading and checking cases: `data` and `expression` read files, `kits` are the weight domains,
//! `machine` asks the engine, `facts`, `inline` and `incremental` know the kinds of facts, `report`
//! runs and counts them.

pub mod data;
pub mod expression;
pub mod facts;
pub mod incremental;
pub mod inline;
pub mod kits;
pub mod machine;
pub mod report;
pub mod stores;
pub mod trace;
