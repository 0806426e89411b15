//! The MCP server as a client speaks to it: line by line, over its standard input and output.

mod agent;
mod crash;
mod hostile;
mod kept;
mod limits;
mod tools;

pub(crate) use agent::Agent;
