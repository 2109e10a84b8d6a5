import { judgeObserved } from '../harness/checks/judge-observed.ts'
import { suite } from '../harness/checks/suite.ts'
import { judgeUnknownPath, judgeUnsupportedMethod } from './envelope/unknown-routes.ts'

// §2.6, §7.1 to §7.4: one error format for every operation

export const envelope = suite('envelope', {
  shape: judgeObserved('envelope/shape'),
  'status-tpe-pair': judgeObserved('envelope/status-tpe-pair'),
  'content-type': judgeObserved('envelope/content-type'),
  'message-keys': judgeObserved('envelope/message-keys'),
  'bad-input-no-5xx': judgeObserved('envelope/bad-input-no-5xx'),
  'unknown-path': judgeUnknownPath,
  'unsupported-method': judgeUnsupportedMethod,
})
