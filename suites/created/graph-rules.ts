import { additionOperation, uploadOperation } from '../../catalogue/operations.ts'
import {
  type Evidence,
  type History,
  type HistoryEvent,
  isConflict,
  type Rule,
  sameId,
  verdictOf,
} from '../../harness/journal/index.ts'
import {
  additionsByFile,
  fileOf,
  hasSettled,
  isAnswered,
  isMeant,
  madeBy,
  mayBeGone,
} from './attempts.ts'

const isOf = ({ within }: HistoryEvent, graph = ''): boolean => sameId(within ?? '', graph)

const uploadOf = (history: History, { object = '' }: HistoryEvent): HistoryEvent | undefined =>
  history.of(object).find(({ operation, isGranted: is }) => operation === uploadOperation && is)

const takesPlain = (history: History, graph: string): boolean =>
  madeBy(history, additionOperation).some((one) => {
    const upload = isOf(one, graph) ? uploadOf(history, one) : undefined
    return upload !== undefined && upload.within === undefined
  })

const isClientError = ({ status = 0 }: HistoryEvent): boolean =>
  status >= 400 && status < 500 && ![401, 403, 409].includes(status)

/**
 * §2.8: a file uploaded with graphId is in that graph only: its first addition there gets 409, once processed. An
 * addition that was sent twice may have added it; a throttled or blocked one has not.
 */
export const attachedRule: Rule = (history) => {
  let cases = 0
  const evidence = madeBy(history, uploadOperation).flatMap((upload): Evidence[] => {
    const { within: graph, object } = upload
    if (graph === undefined || object === undefined) return []
    const added = additionsByFile(history)
      .get(fileOf({ object, content: undefined }))
      ?.filter(isMeant)
    const first = added?.find((one) => !one.noise && isOf(one, graph))
    if (!added || !first || !isAnswered(first)) return []
    const shownBy = upload.exchange.purpose.requirement
    if (isConflict(first)) {
      cases++
      return addedNowhere(history, upload, added).map((one) => ({ ...one, shownBy }))
    }
    const isWrong = first.isGranted || (isClientError(first) && takesPlain(history, graph))
    const isLate = hasSettled(history, upload.endedAt, first.sentAt)
    if (!isWrong || !isLate || mayBeGone(history, upload.sentAt, first.endedAt)) return []
    const expected = '409: the file was uploaded with graphId, and is already in that graph'
    const what = `of file ${object}, which was uploaded with graphId ${graph} before`
    return [{ exchange: first.exchange, what, expected, shownBy }]
  })
  const why = 'no file uploaded with graphId was added to that graph after enough time'
  return verdictOf(evidence, cases + evidence.length, why)
}

/** Evidence that an attached file cannot be added to another graph, though a plain one can be in both. */
function addedNowhere(
  history: History,
  { within = '', endedAt }: HistoryEvent,
  added: readonly HistoryEvent[],
): Evidence[] {
  const elsewhere = added.filter((one) => !isOf(one, within))
  const last = elsewhere.at(-1)
  if (!last || elsewhere.length < 2 || !elsewhere.every(isConflict)) return []
  if (!hasSettled(history, endedAt, last.sentAt)) return []
  if (![within, last.within!].every((graph) => takesPlain(history, graph))) return []
  const expected =
    'no 409: the file was uploaded with the graphId of another graph, and other files can be in both'
  return [{ exchange: last.exchange, what: 'for a graph other than that of the upload', expected }]
}
