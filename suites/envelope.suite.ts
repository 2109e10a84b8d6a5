import { judgeSighting } from '../harness/checks/judge-sighting.ts'
import { suite } from '../harness/checks/suite.ts'
import { judgeUnknownPath, judgeUnsupportedMethod } from './envelope/unknown-routes.ts'

// §2.6, §7.1 to §7.4: one error format for every operation

export const envelope = suite('envelope', {
  shape: judgeSighting('envelope/shape'),
  'status-tpe-pair': judgeSighting('envelope/status-tpe-pair'),
  'content-type': judgeSighting('envelope/content-type'),
  'message-keys': judgeSighting('envelope/message-keys'),
  'bad-input-no-5xx': judgeSighting('envelope/bad-input-no-5xx'),
  'unknown-path': judgeUnknownPath,
  'unsupported-method': judgeUnsupportedMethod,
})
