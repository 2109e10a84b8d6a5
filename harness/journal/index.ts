export { createdId, eventOf, type HistoryEvent, idKey, isConflict } from './event.ts'
export { readsTheSame, sameId } from './event.ts'
export { type Answer, derived, gathered, type History, Journal } from './journal.ts'

export { eachOf, type Evidence, type Rule, type Verdict, verdictOf } from './verdict.ts'

export type { Ask, Conclusion, Entry, Known } from './ask.ts'
export { answerTo, countsAsGranted, isMet, isSettling } from './answer.ts'
export { answerAtEnd, isHarmless, leavesState, sentFor } from './answer.ts'

export { NotExercised, Throttled } from './not-exercised.ts'
export type { Credential, Exchange, Probe, Purpose } from './exchange.ts'
export {
  differing,
  isRight,
  isThrottling,
  isWrong,
  jsonOf,
  kindOf,
  pathOf,
  type PreviousRequest,
  probeOf,
  queryOf,
  type Source,
  withHeader,
  withJson,
  withOwn,
} from './exchange.ts'
export { HttpResponse, jsonValue } from './response.ts'
export {
  envelopeProblem,
  headBytes,
  isBlocked,
  isBreakdown,
  isGranted,
  isOfFamily,
  isThrottled,
  mentionsExpected,
} from './response.ts'
export { describePairs, envelopeRemark, hasStatusOf, isExpected, matchPairs } from './response.ts'
export {
  describeProbe,
  describeResponse,
  familyRemark,
  isPage,
  onReusedConnection,
  rerunCommand,
  rerunLine,
  wasAnswered,
  withFinding,
} from './describe.ts'
