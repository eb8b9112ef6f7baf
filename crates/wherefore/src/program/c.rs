//! What is asked of C programs only: how they are read, and what their answers rest on.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use wherefore_frontend::c::{self, Assumption, DataModel, Input, Options};
use wherefore_program::Program;

use crate::exit::CliError;

/// How C is read.
#[derive(Args)]
pub struct CArgs {
    /// How wide the types of C are.
    #[arg(long, value_enum, value_name = "MODEL", help_heading = "C")]
    data_model: Option<Model>,

    /// What is an error, as an SV-COMP property file (.prp).
    #[arg(long, value_name = "FILE", help_heading = "C")]
    property: Option<PathBuf>,

    /// Count calls of this function as errors, and nothing else; can be given several times.
    #[arg(long, value_name = "NAME", help_heading = "C")]
    error_function: Vec<String>,

    /// Count this label as an error, and nothing else; can be given several times.
    #[arg(long, value_name = "NAME", help_heading = "C", conflicts_with = "error_function")]
    error_label: Vec<String>,

    /// Count failed assertions as errors, and nothing else.
    #[arg(long, help_heading = "C", conflicts_with = "error_function")]
    assertions: bool,

    /// Let malloc and the like return NULL.
    #[arg(long, help_heading = "C")]
    malloc_may_fail: bool,

    /// Define a macro for the preprocessor.
    #[arg(short = 'D', value_name = "MACRO", help_heading = "C")]
    define: Vec<String>,

    /// Search a folder for header files.
    #[arg(short = 'I', value_name = "FOLDER", help_heading = "C")]
    include: Vec<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Model {
    /// 64-bit pointers and longs.
    Lp64,
    /// 32-bit pointers and longs.
    Ilp32,
}

/// What the answer about a C program rests on.
pub struct Rest {
    pub inputs: Vec<Input>,
    pub assumptions: Vec<Assumption>,
    /// The files that were read, and how.
    pub files: Vec<PathBuf>,
    pub options: Options,
}

impl CArgs {
    /// Whether a file is C, or a task about C.
    pub fn applies_to(file: &Path) -> bool {
        c::is_c(file) || file.extension().is_some_and(|extension| extension == "yml")
    }

    /// Reads C files, or a task.
    pub fn load(&self, files: &[PathBuf], entry: Option<&str>) -> Result<(Program, Rest), CliError> {
        let (mut options, files) = match files {
            [task] if !c::is_c(task) => {
                let task = c::read_task(task)?;
                (task.options, task.files)
            }
            files => (Options::default(), files.to_vec()),
        };
        if let Some(file) = &self.property {
            let name = file.display().to_string();
            let text = std::fs::read_to_string(file)
                .map_err(|error| CliError::File { file: name.clone(), error })?;
            options = c::read_property(&name, &text, &options)?;
        }
        if !self.error_function.is_empty() {
            options.property = c::Property::Calls(self.error_function.clone());
        }
        if !self.error_label.is_empty() {
            options.property = c::Property::Labels(self.error_label.clone());
        }
        if self.assertions {
            options.property = c::Property::Assertions;
        }
        match self.data_model {
            Some(Model::Lp64) => options.data_model = DataModel::Lp64,
            Some(Model::Ilp32) => options.data_model = DataModel::Ilp32,
            None => {}
        }
        if let Some(entry) = entry {
            options.entry = entry.to_owned();
        }
        options.malloc_may_fail |= self.malloc_may_fail;
        options.preprocessor.extend(self.define.iter().map(|text| format!("-D{text}")));
        options.preprocessor.extend(self.include.iter().map(|folder| format!("-I{}", folder.display())));
        let translation = c::translate(&files, &options)?;
        let rest = Rest { inputs: translation.inputs, assumptions: translation.assumptions, files, options };
        Ok((translation.program, rest))
    }
}

/// An assumption with its place, in words.
pub fn words(program: &Program, assumption: &Assumption) -> String {
    match assumption.span {
        Some(span) => {
            format!("{}:{}: {}", program.source(span).name(), program.position(span).line, assumption.text)
        }
        None => assumption.text.clone(),
    }
}
