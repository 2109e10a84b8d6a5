// What happened to objects.
export { createdId, eventOf, type HistoryEvent, idKey, isConflict } from './event.ts'
export { readsTheSame, sameId } from './event.ts'
export {
  createHistory,
  derived,
  gathered,
  type History,
  historyHook,
  historyOf,
} from './history.ts'

// What rules make of it.
export { eachOf, type Evidence, type Rule, type Verdict, verdictOf } from './verdict.ts'
