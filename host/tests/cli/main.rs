//! The program as its users run it: the real binary in a home of its own, with nothing of this machine in its environment.

mod golden;
mod life;
mod support;
mod surface;
