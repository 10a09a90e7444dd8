//! The files that a run writes while it goes on.

use super::marks::Marks;
use anyhow::{Context, Result};
use machine::observe::masks::Masks;
use machine::observe::stacks::Stacks;
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

/// The files that a run writes.
pub struct Paths<'a> {
    pub edges: Option<&'a Path>,
    pub uart: Option<&'a Path>,
    pub windows: Option<&'a Path>,
    pub stimuli: Option<&'a Path>,
    pub marks: Option<&'a Path>,
    /// The instructions of a stretch.
    pub stretch: Option<&'a Path>,
    pub masks: Option<&'a Path>,
    pub mask_stacks: Option<&'a Path>,
}

/// Writes what the machine did since the last call to these files.
pub struct Recorder {
    edges: Option<Output>,
    uart: Option<Output>,
    windows: Option<Output>,
    stimuli: Option<Output>,
    marked: Option<Output>,
    marks: Marks,
    stretch: Option<Output>,
    masks: Option<Output>,
    mask_stacks: Option<Output>,
}

impl Recorder {
    pub fn create(paths: &Paths, observer: &Observer, marks: Marks) -> Result<Recorder> {
        let create = |path: Option<&Path>| path.map(Output::create).transpose();
        let mut edges = create(paths.edges)?;
        if let Some(output) = &mut edges {
            output.write(b"cycle,pin,level\n")?;
        }
        let mut windows = create(paths.windows)?;
        if let (Some(output), Some(table)) = (&mut windows, &observer.windows) {
            output.write(table.header().as_bytes())?;
        }
        let mut stimuli = create(paths.stimuli)?;
        if let Some(output) = &mut stimuli {
            output.write(b"cycle,port,bytes,value\n")?;
        }
        let mut marked = create(paths.marks)?;
        if let Some(output) = &mut marked {
            output.write(Marks::HEADER)?;
        }
        let mut masks = create(paths.masks)?;
        if let Some(output) = &mut masks {
            output.write(Masks::HEADER.as_bytes())?;
        }
        let mut mask_stacks = create(paths.mask_stacks)?;
        if let Some(output) = &mut mask_stacks {
            output.write(Stacks::HEADER.as_bytes())?;
        }
        Ok(Recorder {
            edges,
            uart: create(paths.uart)?,
            windows,
            stimuli,
            marked,
            marks,
            stretch: create(paths.stretch)?,
            masks,
            mask_stacks,
        })
    }

    pub fn record(&mut self, machine: &mut Machine, observer: &mut Observer) -> Result<()> {
        let edges = machine.take_edges();
        if let Some(output) = &mut self.edges {
            for edge in edges.iter().filter(|edge| edge.output) {
                let line = format!("{},{},{}\n", edge.cycle, edge.pin, u8::from(edge.level));
                output.write(line.as_bytes())?;
            }
        }
        let bytes = machine.take_transmitted();
        if let Some(output) = &mut self.uart {
            output.write(&bytes)?;
        }
        if let Some(output) = &mut self.stimuli {
            for write in machine.core_mut().take_stimuli() {
                let (cycle, port) = (write.cycle, write.port);
                let line = format!("{cycle},{port},{},{}\n", write.bytes, write.value);
                output.write(line.as_bytes())?;
            }
        }
        if let Some(output) = &mut self.marked {
            for passage in machine.core_mut().take_passages() {
                let rows = self.marks.rows(&passage);
                output.write(rows.as_bytes())?;
            }
        }
        if let (Some(output), Some(trace)) = (&mut self.stretch, &mut observer.trace) {
            for entry in trace.take() {
                output.write(format!("{}\n", entry.json()).as_bytes())?;
            }
        }
        if let (Some(output), Some(table)) = (&mut self.windows, &mut observer.windows) {
            output.write(table.take_rows().as_bytes())?;
        }
        if let Some(masks) = &mut observer.masks {
            self.record_masks(masks)?;
        }
        Ok(())
    }

    fn record_masks(&mut self, masks: &mut Masks) -> Result<()> {
        if let Some(output) = &mut self.masks {
            output.write(masks.take_rows().as_bytes())?;
        }
        if let Some(output) = &mut self.mask_stacks {
            output.write(masks.take_stack_rows().as_bytes())?;
        }
        Ok(())
    }

    pub fn finish(self) -> Result<()> {
        let observed = [self.windows, self.stimuli, self.marked, self.stretch];
        let masks = [self.masks, self.mask_stacks];
        [self.edges, self.uart]
            .into_iter()
            .chain(observed)
            .chain(masks)
            .flatten()
            .try_for_each(Output::finish)
    }
}
