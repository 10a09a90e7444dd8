//! The files that a run writes while it goes on.

use super::marks::Marks;
use super::run::RunArguments;
use anyhow::{Context, Result};
use machine::observe::masks::Masks;
use machine::observe::stacks::Stacks;
use machine::observe::trace::Trace;
use machine::observe::windows::Windows;
use machine::observe::Observer;
use machine::Machine;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// An open file, and its name for messages.
pub struct Output {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Output {
    pub fn create(path: &Path) -> Result<Output> {
        let file =
            File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Output {
            path: path.into(),
            file: BufWriter::new(file),
        })
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file
            .write_all(bytes)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    pub fn finish(mut self) -> Result<()> {
        self.file
            .flush()
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// What a file of a run has.
enum Content {
    Edges,
    Windows,
    Stimuli,
    Marks,
    Masks,
    MaskStacks,
    Uart,
    /// The instructions of a stretch.
    Stretch,
}

/// Writes what the machine did since the last call to the files of a run.
pub struct Recorder {
    files: Vec<(Content, Output)>,
    marks: Marks,
}

impl Recorder {
    pub fn create(arguments: &RunArguments, observer: &Observer, marks: Marks) -> Result<Recorder> {
        let windows = observer.windows.as_ref();
        let stretch = arguments.trace_window.as_ref();
        let mut files = Vec::new();
        for (content, path, header) in [
            (Content::Edges, &arguments.edges, "cycle,pin,level\n"),
            (
                Content::Windows,
                &arguments.windows,
                &windows.map_or(String::new(), Windows::header),
            ),
            (Content::Stimuli, &arguments.itm, "cycle,port,bytes,value\n"),
            (Content::Marks, &arguments.marks, Marks::HEADER),
            (Content::Masks, &arguments.masks, Masks::HEADER),
            (Content::MaskStacks, &arguments.mask_stacks, Stacks::HEADER),
            (Content::Uart, &arguments.uart_log, ""),
            (
                Content::Stretch,
                stretch.map_or(&None, |_| &arguments.trace),
                "",
            ),
        ] {
            if let Some(path) = path {
                let mut output = Output::create(path)?;
                output.write(header.as_bytes())?;
                files.push((content, output));
            }
        }
        Ok(Recorder { files, marks })
    }

    pub fn record(&mut self, machine: &mut Machine, observer: &mut Observer) -> Result<()> {
        let edges = machine.take_edges();
        let sent = machine.take_transmitted();
        for (content, output) in &mut self.files {
            let rows: String = match content {
                Content::Edges => edges
                    .iter()
                    .filter(|edge| edge.output)
                    .map(|edge| format!("{},{},{}\n", edge.cycle, edge.pin, u8::from(edge.level)))
                    .collect(),
                Content::Uart => {
                    output.write(&sent)?;
                    continue;
                }
                Content::Stimuli => machine
                    .core_mut()
                    .itm_mut()
                    .take()
                    .into_iter()
                    .map(|write| {
                        let (cycle, port) = (write.cycle, write.port);
                        format!("{cycle},{port},{},{}\n", write.bytes, write.value)
                    })
                    .collect(),
                Content::Marks => machine
                    .core_mut()
                    .take_passages()
                    .iter()
                    .map(|passage| self.marks.rows(passage))
                    .collect(),
                Content::Stretch => {
                    let entries = observer.trace.iter_mut().flat_map(Trace::take);
                    entries.map(|entry| format!("{}\n", entry.json())).collect()
                }
                Content::Windows => observer
                    .windows
                    .iter_mut()
                    .map(Windows::take_rows)
                    .collect(),
                Content::Masks => observer.masks.iter_mut().map(Masks::take_rows).collect(),
                Content::MaskStacks => {
                    let masks = observer.masks.iter_mut();
                    masks.map(Masks::take_stack_rows).collect()
                }
            };
            output.write(rows.as_bytes())?;
        }
        Ok(())
    }

    pub fn finish(self) -> Result<()> {
        let mut outputs = self.files.into_iter().map(|(_, output)| output);
        outputs.try_for_each(Output::finish)
    }
}
