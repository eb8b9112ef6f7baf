//! `wherefore properties`: the rules that come with the program; and how a property that a user
//! names is found.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use wherefore_properties::{Property, SHIPPED, parse, shipped};

use crate::exit::{CliError, Exit, print};

/// List the rules about libraries that come with the program, or print the file of one.
#[derive(Args)]
pub struct PropertiesArgs {
    /// The property whose file is printed.
    name: Option<String>,
}

/// Lists them, or prints one.
pub fn run(args: &PropertiesArgs, out: &mut impl Write) -> Result<Exit, CliError> {
    let text = match &args.name {
        Some(name) => {
            let found = shipped(name).ok_or_else(|| CliError::Question {
                file: name.clone(),
                message: format!("there is no property of this name; there are {}", names()),
            })?;
            found.text.to_owned()
        }
        None => {
            let width = SHIPPED.iter().map(|shipped| shipped.name.len()).max().unwrap_or(0);
            let line = |shipped: &wherefore_properties::Shipped| {
                format!("{:width$}  {}\n", shipped.name, shipped.property().title)
            };
            SHIPPED.iter().map(line).collect()
        }
    };
    print(out, &text, Exit::Negative)
}

/// The names of all that come with the program.
pub fn names() -> String {
    SHIPPED.map(|shipped| format!("`{}`", shipped.name)).join(", ")
}

/// The rules that `--property` names: a file `.spec`, or the name of one that comes with the
/// program; none if it names something else.
pub fn find(given: &Path) -> Result<Option<Arc<Property>>, CliError> {
    let name = given.display().to_string();
    if given.extension().is_some_and(|extension| extension == "spec") {
        let text =
            std::fs::read_to_string(given).map_err(|error| CliError::File { file: name.clone(), error })?;
        return Ok(Some(Arc::new(parse(&name, &text)?)));
    }
    let found = shipped(&name).filter(|_| !given.exists());
    Ok(found.map(|shipped| Arc::new(shipped.property())))
}
