export type {
  HeaderLine,
  HttpRequest,
  HttpResult,
  NoResponse,
  NoResponseDetail,
  WireResponse,
} from './message.ts'
export { headerValue, isNamed } from './message.ts'

export type { Transport } from './message.ts'
export { createTransport } from './transport.ts'
export { createHandlerTransport, handlerOf } from './handler-transport.ts'
export { proxyFor, type Proxy } from './endpoint.ts'
export { proxyName } from './no-response.ts'
