//! Reading cases, running their facts, and counting them.

mod expression;
mod facts;
pub mod report;
mod yaml;
