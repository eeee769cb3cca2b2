#include "controller/rpc/agent_link_service.h"

#include "controller/rpc/agent_session.h"

namespace pyptox::controller {

grpc::ServerBidiReactor<v1::AgentMessage, v1::ControllerMessage>* AgentLinkService::Connect(
    grpc::CallbackServerContext* context) {
  return AgentSession::Start({core_, logs_, blobs_}, slots_->Take(context->peer()), context);
}

}  // namespace pyptox::controller
