//! Weight domains.
