/** Recorded exchanges that contradict their report are signed by nobody, and verify nowhere. */
import { describe, expect, test } from 'vitest'
import { withoutCleanup } from '../matrix/changed-targets.ts'
import { judgeReference } from '../matrix/judge-reference.ts'
import { forgeBundle, exchanges, signer, wholeReport } from './signed.ts'
import { ownRun, problemsOf } from './honest.ts'

const id = 'files.list/401-missing-credentials'
type Har = ReturnType<typeof exchanges>

/** One answer shown as if the request had been granted. */
function granted(): Har {
  const har = exchanges()
  const entry = har.log.entries.find(({ _requirement }) => _requirement === id)!
  entry.response.status = 200
  return har
}

const counting = wholeReport((whole) => {
  whole.requirements.find((one) => one.id === id)!.cases = 400
})

const lies: readonly [
  what: string,
  report: ReturnType<typeof wholeReport>,
  har: Har,
  words: RegExp,
][] = [
  [
    'a refusal that was granted',
    wholeReport(),
    granted(),
    new RegExp(
      `contradict the report: ${id} passed in the report, but log\\.entries\\[\\d+\\] was answered 200`,
    ),
  ],
  [
    'cases that nobody sent',
    counting,
    exchanges(),
    new RegExp(`${id} counts 400 cases, and there are 1 answers`),
  ],
]

describe.each(lies)('%s', (_, report, har, words) => {
  test('is signed by nobody, not as partial either', async () => {
    const own = signer(report, har)
    await expect(own.bundle()).rejects.toThrow(words)
    await expect(own.bundle({ partial: true })).rejects.toThrow(words)
    await expect(own.sign({ har: [own.file('run.har')], partial: true })).rejects.toThrow(words)
  })

  test('is neither verified nor countersigned', async () => {
    const own = signer(report)
    await forgeBundle(own, { report, har })
    expect(own.verify('b.zip').result.problems.join()).toMatch(words)
    const add = { report: undefined, add: own.file('b.zip'), partial: true }
    await expect(signer().sign(add)).rejects.toThrow(words)
  })
})

test('exchanges that hold a key of the target file are signed by nobody', async () => {
  const har = exchanges()
  har.log.entries[0]!.request.url += '?key=very-secret-word'
  const own = signer(wholeReport(), har)
  const holdsKey = (bytes: Uint8Array) => Buffer.from(bytes).includes('very-secret-word')
  await expect(own.bundle({ partial: true, holdsKey })).rejects.toThrow(
    'exchanges.har: cannot be signed: it holds a key that the target file names',
  )
})

test('that the exchanges were not looked at is said first, by sign and by verify', async () => {
  const own = signer()
  await own.sign({})
  expect(own.shown.slice(0, 2)).toEqual(['what is signed:', '  the exchanges were not looked at'])
  expect(own.verify('c.json').lines[0]).toBe('the exchanges were not looked at')
  expect(own.verify('c.json', { report: own.file('report.json') }).lines[0]).toBe(
    'the exchanges were not looked at',
  )
  await own.bundle()
  expect(own.verify('b.zip').lines.join()).not.toContain('not looked at')
})

describe('of a whole run', async () => {
  const run = await ownRun((options) =>
    judgeReference(
      { jobMs: 15, slowJobMs: 300 },
      { change: withoutCleanup, options: { ...options, depth: 'quick' } },
    ),
  )
  const changed = (change: (entry: any) => void) => {
    const entries = structuredClone(run.entries)
    for (const entry of entries) change(entry)
    return problemsOf({ ...run, entries })
  }

  test('nothing contradicts it', () => expect(problemsOf(run)).toEqual([]))

  test('every answer of 401 that is shown as 200 does', () => {
    const problems = changed(({ response }) => {
      if (response.status === 401) response.status = 200
    })
    expect(problems.length).toBeGreaterThan(50)
  })

  test('errors without an envelope do, by what every answer has to keep', () => {
    const problems = changed(({ response }) => {
      if (response.status === 404) Object.assign(response.content, { text: '{}', size: 2 })
    })
    expect(problems.join('\n')).toMatch(/envelope\/shape passed in the report/)
  })

  test('an error of a model does not, if another request was refused with 429', () => {
    const throttled = run.entries.filter(({ response }) => response.status === 429)
    const failed = structuredClone(throttled).map((entry) => {
      const content = entry.response.content
      const text = content.text.replace(/"tpe":"[^"]*"/, '"tpe":"CompletionModelInternalError"')
      Object.assign(content, { text, size: text.length })
      Object.assign(entry.response, { status: 500 })
      entry.request.url = `${String(entry.request.url)}?other`
      return entry
    })
    expect(failed.length).toBeGreaterThan(10)
    expect(problemsOf({ ...run, entries: [...failed, ...run.entries] })).toEqual([])
  })

  test('another tpe does, and so does a server that did nothing for an operation', () => {
    const other = changed(({ response }) => {
      response.content.text = response.content.text?.replace('ResourceNotFound', 'NoSuchThing')
    })
    expect(other.join('\n')).toMatch(/404-unknown-application passed in the report/)
    const silent = changed((entry) => {
      if (entry._operation === 'translate.run') entry.response.status = 0
    })
    expect(silent.join('\n')).toMatch(/translate\.run gave no answer/)
  })
})
