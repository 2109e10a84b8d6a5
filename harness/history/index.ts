// What happened to objects.
export { eventOf, type HistoryEvent, idKey, readsTheSame, sameId } from './event.ts'
export { createHistory, derived, type History, historyHook, historyOf } from './history.ts'
export { createdId } from './created-id.ts'

// What rules make of it.
export { broken, type Evidence, heldBy, type Rule, type Verdict } from './verdict.ts'
