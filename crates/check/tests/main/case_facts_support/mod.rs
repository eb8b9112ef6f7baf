//! Reading cases, running their facts, and counting them.

pub mod expression;
mod facts;
pub mod report;
pub mod yaml;
