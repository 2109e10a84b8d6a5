export {
  type HeaderLine,
  type HttpRequest,
  type HttpResult,
  type NoResponse,
  type NoResponseDetail,
  type PrecedingRequest,
  type WireResponse,
  headerValue,
  isNamed,
  isOfGateway,
  type Transport,
  type Proxy,
  proxyName,
} from './message.ts'
export { createTransport } from './transport.ts'
export { createHandlerTransport, handlerOf } from './handler-transport.ts'
