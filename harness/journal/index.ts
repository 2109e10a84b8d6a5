export { createdId, eventOf, type HistoryEvent, idKey, isConflict } from './event.ts'
export { readsTheSame, sameId } from './event.ts'
export { createHistory, derived, gathered, type History } from './journal.ts'

export { eachOf, type Evidence, type Rule, type Verdict, verdictOf } from './verdict.ts'

export { type Answer, type Ask, type Entry, Journal, type Known, type Request } from './ask.ts'
export { answerTo, countsAsGranted, isMet, isSettling, settlingEveryMs } from './answer.ts'
export { answerAtEnd, isHarmless, leavesState, sentFor } from './answer.ts'
