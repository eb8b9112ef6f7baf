//! Front ends: from files to pushdown systems.
//!
//! # Reading order
//! 1. [`pds`]: pushdown systems as files, in three formats; start at [`pds::read`] and [`pds::PdsFile`].

pub mod pds;
