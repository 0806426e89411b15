//! Messages as they come in. The SDK ends when the first one is no request; a client may begin otherwise.

use rmcp::{
    RoleServer,
    model::{ClientRequest, JsonRpcMessage},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};

/// A transport that leaves out what needs no answer until the client has begun.
pub(super) struct Patient<T> {
    inner: T,
    has_begun: bool,
}

impl<T> Patient<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { inner, has_begun: false }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Patient<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await?;
            if let JsonRpcMessage::Request(request) = &message {
                // These two may come before anything is agreed upon.
                self.has_begun |=
                    !matches!(request.request, ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_));
                return Some(message);
            }
            if self.has_begun {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
