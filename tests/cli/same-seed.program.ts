import { expect, test } from 'vitest'
import { conformProcess, folder, readReport, targetFile } from './conform.ts'
import { conform } from './in-process.ts'
import { reference } from './reference.ts'

interface Entry {
  readonly request: {
    readonly method: string
    readonly url: string
    readonly headers: object[]
    readonly postData?: { readonly text: string; readonly _encoding?: string }
  }
  readonly _role: string
}

const uuids = /[\da-f]{8}-[\da-f]{4}(?:(?:-[\da-f]{4}){2}-[\da-f]{12})?/g

/** Whatever makes names, ids and values of its own, but for jobs, which are polled. */
const areas = ['files.*', 'graphs.*', 'chat.*', 'completion.*', 'envelope/un*'].flatMap(
  (pattern) => ['--only', pattern],
)

/** A body that is not text, as characters: an id within it is one, too. */
function readable(body: Entry['request']['postData']): object | undefined {
  return body?._encoding === 'base64'
    ? { ...body, text: Buffer.from(body.text, 'base64').toString('latin1') }
    : body
}

/**
 * Requests that were sent, but for the run's nonce, ids that the target made, polls and retries. Which of the requirements that share a
 * request is the first to ask for it is a matter of time.
 */
async function requests(seed: string, run: typeof conform): Promise<string[]> {
  const { url } = await reference()
  const cwd = folder()
  const file = targetFile(cwd, url)
  const args = [
    '-t',
    file,
    '--seed',
    seed,
    '--runs',
    '2',
    ...areas,
    '--report',
    'har',
    '--report',
    'json',
  ]
  expect((await run(args, { cwd })).code).toBe(0)
  const { created, nonce: own } = readReport(cwd).run
  // Bodies that are cut short are cut within an id.
  const made = created.map(({ id }) => [id, id.slice(0, 13)]).flat()
  const nonce = new RegExp(`${own.slice(0, 4)}[0-9a-z]{4}`, 'g')
  const { log } = readReport(cwd, 'conform-report.har') as unknown as { log: { entries: Entry[] } }
  const sent = log.entries.filter(({ _role }) => _role !== 'poll')
  const told = sent.map(({ request: { method, headers, postData, ...request } }) =>
    JSON.stringify([method, request.url.replace(url, ''), headers, readable(postData)])
      // An unknown id has the version and the variant of one that the target made.
      .replaceAll(uuids, (id) =>
        made.includes(id) ? '<made>' : id.replace(/^(.{14}).(.{4})./, '$1_$2_'),
      )
      .replaceAll(url.replace('http://', ''), '<host>')
      .replaceAll(nonce, '<nonce>'),
  )
  return [...new Set(told)].sort()
}

test('the same seed gives the same requests, another one others', async () => {
  // In two processes, so that nothing is the same because it was made once.
  const [first, second] = [await requests('7', conformProcess), await requests('7', conform)]
  const other = await requests('8', conform)
  expect(second).toEqual(first)
  expect(other).not.toEqual(first)
})
