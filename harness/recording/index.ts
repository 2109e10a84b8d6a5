export type {
  ExchangeRole,
  FailureExchange,
  RecordedExchange,
  RecordedRequest,
  RecordedResponse,
} from './recorded.ts'
export {
  exchangeDefinitions,
  recordBody,
  recordHead,
  recordHeaders,
  shownText,
} from './recorded.ts'
export type { RecordedBody, RecordedHeaders, Shown } from './recorded.ts'
export { createRecorder, type Recorder } from './recorder.ts'

export { curlOf, curlOfBoth, remarkMark } from './curl.ts'
export { inProcessUrl } from './recorded.ts'

export { redacted } from './recorded.ts'
export { withoutEntities } from './views.ts'
export { foreignWords, noteLiterals, printed } from './printed.ts'
export { isAuthorization, isSecretName, Redactor, shortestKey } from './redactor.ts'
