import { Journal, type History } from '../../harness/journal/journal.ts'
import type { HistoryEvent } from '../../harness/journal/event.ts'
import { answered, limits, membersIn, tpeOf } from './stories.ts'

const line =
  /^(?<from>\d+)(?:-(?<to>\d+))? (?<verb>\w+) (?<on>[\w.,]+)(?:>(?<graph>\w+))?(?:\/(?<fault>\S+))?: (?<said>\d+|--?)(?: (?<tpe>[A-Z]\w*))?(?: (?<id>[a-z]\w*))?(?<more>(?: \w+=\S+)*)$/

const verbs = {
  create: ['creation', 'graphs.create'],
  upload: ['creation', 'files.upload'],
  add: ['creation', 'graphs.add-file'],
  get: ['reading', 'files.retrieve'],
  query: ['use', 'graphs.query'],
  list: ['listing', 'files.list'],
} as const

interface More {
  /** Of a creation what it sends, its name by default; members of the answer. */
  readonly content?: string
  readonly body?: object
  readonly key?: string
  readonly label?: string
}

/**
 * The history that a story tells, a line for each request, in ms: `0 create tea: 200 g1` (a graph of that name), `0 upload a.txt>g1:
 * 200 f1` (a file, to a graph), `5 add f1>g1: 409`, `9 get f1: 404`, `9 query g1: 200`, `9 list pdf: 200 body=[...]`. `/401` behind
 * what is named: without a good key; `/type`: labelled as something else, and whatever else a fault is called. `-`: no answer, `--`: none to a second attempt either.
 */
export function objectsOf(story: string, isRecorded = false): History {
  const history = new Journal(limits, isRecorded)
  for (const text of story.split('; ')) {
    if (text.startsWith('other ')) {
      history.othersAt.push(Number(text.slice(6)))
      continue
    }
    const told = line.exec(text)?.groups
    if (!told) throw new Error(`no line of a story: ${text}`)
    const { from = '0', verb = '', on = '', graph, fault, said = '', tpe, id } = told
    const more = membersIn(told['more']) as More
    const [kind, operation] = verbs[verb as keyof typeof verbs]
    const [sentAt, endedAt] = [Number(from), Number(told['to'] ?? Number(from) + 5)]
    const status = said.startsWith('-') ? undefined : Number(said)
    const named = tpeOf(operation, status, tpe)
    const body = named ? { tpe: named, errors: [], extras: {} } : (more.body ?? {})
    const isKey = fault === '401' || fault === '403'
    const isTwice = said === '--' && !isRecorded
    const answer = answered({ status, tpe: named, body, sentAt, endedAt, fault, isTwice })
    history.append({
      kind,
      operation,
      object:
        verb === 'list' ? `file_types ${on}` : verb === 'create' || verb === 'upload' ? id : on,
      ...(graph !== undefined && { within: graph }),
      ...(['create', 'upload'].includes(verb) && { name: on }),
      ...(kind === 'creation' && { content: more.content ?? on + (fault === 'json' ? '}' : '') }),
      request: isRecorded && !isKey ? 'unknown' : fault === undefined ? 'valid' : 'faulty',
      label: more.label ?? (fault === 'type' ? 'text/plain' : 'application/json'),
      ...(isRecorded && { key: more.key ?? (isKey ? 'bad' : 'good') }),
      ...answer,
      exchange: {
        ...answer.exchange,
        probe: { operation, credential: { full: !isKey } },
      } as never,
    } satisfies HistoryEvent)
  }
  return history
}
