import { catalogue } from '../../catalogue/catalogue.ts'
import { defects } from '../../reference/server.ts'

/**
 * Requirements that a switch may turn red besides the one that it is named after, some only if requests come in a certain order.
 * `{,#a}` stands for each of its parts. A switch may be in several rows.
 */
const table = `
no creation is answered rightly
jobs.create/202-created{,#answer-lost,#no-answer,#closed,#no-http} | jobs.create/202-required-inputs-only
the wrong type is given where that one asks for a certain one
envelope/status-tpe-pair#file | files.retrieve/404-unknown-file
a page is no envelope, and what is not JSON cannot be labelled as such
envelope/large-body{,#one-path,#upload} | envelope/{shape,content-type}
envelope/{unknown-path,unsupported-method}#{page,empty} | envelope/content-type
the 500 comes where that one asks for a 400
envelope/bad-input-no-5xx | pdf.parse/{400-malformed-format,bad-input-no-5xx}
envelope/bad-input-no-5xx#text | ai-detect.run/{400-malformed-text,bad-input-no-5xx}
files.list/2xx-file-types#unknown-5xx | envelope/bad-input-no-5xx
such bodies are among the bad input that it sends
completion.create/400-wrong-content-type#spoils-connection | completion.create/bad-input-no-5xx
jobs.create/400-malformed-json#spoils-connection | jobs.create/bad-input-no-5xx
every application is blocked for a while, also the other one beside a job in progress
jobs.create/4xx-no-effect#unknown | jobs.create/409-per-application
a large file is taken, and kept nowhere
files.upload/400-oversized | files.upload/2xx-retrievable
uploads that share an id share their content
files.upload/2xx-own-id{,#at-once} | pdf.parse/200-content
concurrent creations are all granted, or come one after the other
jobs.create/409-job-in-progress#{at-once-only,parallel,later-only,read-only,identical-only,slow-only,plain-only,preloaded-only} | jobs.create/409-atomic
graphs.create/400-duplicate-name{,#third,#latest-only} | graphs.create/400-atomic
applications.create/400-duplicate-name{,#third,#latest-only} | applications.create/400-atomic
several creations give the id, and the time, of one job
jobs.create/409-job-in-progress#answered-again | jobs.retrieve/200-{identity,created-at}
a graph is gone once its name is asked for again, or forgets all files but the latest
graphs.create/2xx-usable#asked-twice | graphs.add-file/409-already-in-graph
graphs.add-file/409-already-in-graph#latest-only | files.upload/2xx-attached-to-graph
the content is an object with each kind of tool
chat.create/200-query-config#parts | chat.create/200-llm-tool
a job that cannot be found is not read with 200 either
jobs.create/202-retrievable{,#late} | jobs.retrieve/200-job
two responses name one job differently
jobs.{create/202-created,retrieve/200-job}#id | jobs.retrieve/200-identity
an id shows another job, with times, a status and a result of its own
jobs.retrieve/200-identity#newest-only | jobs.retrieve/200-{stable,job}
jobs.retrieve/200-identity#{one-id,newest-job} | jobs.retrieve/200-{created-at,stable}
jobs.retrieve/200-created-at#newest-job | jobs.retrieve/200-{identity,stable}
jobs.retrieve/200-identity#newest-data | jobs.retrieve/200-stable
what a job says does not fit its status, or its time (§2.3)
jobs.retrieve/200-job#error | jobs.retrieve/200-{failed,consistent}
jobs.retrieve/200-{job#data,created-at{,#same-for-all,#backwards},stable#status,stable#newest-status} | jobs.retrieve/200-consistent
jobs.retrieve/200-created-at#drifting | jobs.retrieve/200-{stable,consistent}
jobs.retrieve/200-job#ended-status | jobs.retrieve/200-outcome
the content is needed in either format, and asked for of any file
pdf.parse/200-text{,#status,#no-answer,#closed,#no-http} | pdf.parse/200-content
pdf.parse/200-text#every-third | pdf.parse/200-{markdown,content}
pdf.parse/200-markdown{,#status} | pdf.parse/200-content
pdf.parse/200-markdown#{no-answer,closed,no-http} | pdf.parse/{200-content,400-{corrupted,encrypted,oversized}-pdf}
once a graph has many files, it takes none, with bad input neither
graphs.add-file/2xx-accepted#many | {graphs.add-file,envelope}/bad-input-no-5xx
no file is retrieved, an uploaded one neither
files.retrieve/2xx-accepted{,#envelope,#no-answer,#closed,#no-http} | files.upload/2xx-retrievable
`

/** The text with each part of its innermost braces in their place. */
function expanded(text: string): string[] {
  const [braces, parts] = /\{([^{}]*)\}/.exec(text) ?? []
  if (braces === undefined) return [text]
  return parts!.split(',').flatMap((part) => expanded(text.replace(braces, part)))
}

const red = new Map<string, string[]>()
function add(name: string, ids: readonly string[]): void {
  red.set(name, [...(red.get(name) ?? []), ...ids])
}
for (const line of table.split('\n').filter((one) => one.includes(' | '))) {
  const [switches, ids] = line.split(' | ').map(expanded) as [string[], string[]]
  for (const name of switches) add(name, ids)
}
// A 401 without a type is not what these ask for.
for (const kind of ['#no-tpe', '#array'])
  add(
    `envelope/shape${kind}`,
    catalogue.map(({ id }) => id).filter((id) => /\/401-/.test(id)),
  )
// The suite made that input.
for (const name of defects)
  if (/^(?!envelope).*\/bad-input-no-5xx|\/202-any-text/.test(name))
    add(name, ['envelope/bad-input-no-5xx'])

/** By switch. What does not stand here turns its own requirement red and nothing else. */
export const alsoRed: ReadonlyMap<string, readonly string[]> = red

/** The requirement that a switch is named after. */
export function ownId(defect: string): string {
  return defect.replace(/#.*/, '')
}

/** The requirements that may be red under a switch: no other is. */
export function redUnder(defect: string): readonly string[] {
  return [ownId(defect), ...(alsoRed.get(defect) ?? [])]
}
