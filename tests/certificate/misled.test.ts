/** A stranger with a bundle and a key id: one command tells whether to accept the service. */
import { unreachableReason } from '../../harness/report/reason.ts'
import canonicalize from 'canonicalize'
import { expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { sha256 } from '../../certificate/statement.ts'
import type { Predicate } from '../../certificate/statement-schema.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { applyMode } from '../../harness/report/exit-code.ts'
import { failure } from '../gates/results.ts'
import { consistent, forgeBundle, exchanges, signer, wholeReport } from './signed.ts'

/** The stranger's demands. */
const asked = (id: string) => ({ keyId: [id], require: 'conformant' as const })

const leaveOut = (whole: Report, by: string, isOut: (id: string) => boolean) => {
  for (const row of whole.requirements)
    if (isOut(row.id))
      Object.assign(row, { outcome: 'not-exercised', reason: `left out: ${by}`, cases: 0 })
  consistent(whole)
}

test('the bundle of a whole conformant run is accepted', async () => {
  const { bundle, verify, id } = signer()
  await bundle()
  expect(verify('b.zip', asked(id)).result).toMatchObject({
    accepted: true,
    problems: [],
    unmet: [],
  })
})

test.each<[string, (whole: Report) => void, RegExp]>([
  [
    'partial',
    (whole) => (whole.run.baseline = { file: 'b', expected: [], stale: [], notExercised: [] }),
    /--baseline/,
  ],
  ['smaller', (whole) => (whole.run.runs = 1), /--runs was 1, fewer than 25/],
  [
    'stale',
    (whole) => (whole.run.startedAt = '2026-02-01T00:00:00.000Z'),
    /more than 7 days before/,
  ],
  ['of few wrong keys', (whole) => (whole.run.credentialProbes = 'few'), /credentialProbes/],
  [
    'that answered where it does not serve',
    (whole) => (whole.run.notServed = [{ operation: 'vision.analyze', answered: '200' }]),
    /vision\.analyze is declared not served, but answered: 200/,
  ],
  [
    'cherry-picked by --only',
    (whole) => {
      whole.run.only = ['jobs.*']
      leaveOut(whole, '--only', (id) => !id.startsWith('jobs.'))
    },
    /--only chose what was judged: jobs\.\*/,
  ],
  [
    'cherry-picked by --skip',
    (whole) => {
      whole.run.skip = ['*/401-*']
      leaveOut(whole, '--skip', (id) => id.includes('/401-'))
    },
    /--skip left out/,
  ],
  [
    'in family mode',
    (whole) => {
      const row = whole.requirements.find(({ id }) => id === 'jobs.create/404-unknown-application')!
      row.failures = [failure({ familyOnly: true })]
      row.outcome = 'failed'
      consistent(whole)
      Object.assign(whole, applyMode(whole, 'family'))
    },
    /only --tpe family makes it conformant/,
  ],
])(
  'a bundle %s is valid, but not accepted, and the stranger reads why',
  async (_, change, reason) => {
    const { bundle, verify, id } = signer(wholeReport(change))
    await expect(bundle()).rejects.toThrow(/cannot be signed/)
    await bundle({ partial: true })
    const { result, lines } = verify('b.zip', asked(id))
    expect(result).toMatchObject({ valid: true, accepted: false })
    expect(result.partial!.join()).toMatch(reason)
    expect(lines[0]).toMatch(/^Valid, but not accepted: .*, partial/)
    expect(lines[0]).toMatch(`, signed by the key of --key-id ${id}`)
    expect(lines[1]).toMatch(/^not accepted: /)
    expect(lines.slice(2).find((line) => line.startsWith('verdict'))).toMatch(
      /^verdict by exact names: .*, partial/,
    )
    expect(lines.join('\n')).toMatch(reason)
  },
)

test('an expired bundle, and one from the future, are not valid', async () => {
  const { bundle, verify, id } = signer()
  await bundle({ validDays: 10 })
  expect(verify('b.zip', asked(id), new Date('2026-03-11T12:00:00Z')).result.problems).toEqual([
    'it expired at 2026-03-11T12:00:00.000Z',
  ])
  expect(verify('b.zip', asked(id), new Date('2026-03-01T12:00:00Z')).result.problems[0]).toMatch(
    /^it is dated/,
  )
})

/** Signs a bundle that conform would not make, and gives what the stranger is told. */
async function forged(
  change: (whole: Report) => void,
  lie: (predicate: Predicate) => void = () => undefined,
) {
  const own = signer()
  await forgeBundle(own, { report: wholeReport(change), lie })
  return own.verify('b.zip', asked(own.id)).result
}

const fail = (whole: Report) => {
  const row = whole.requirements.find(({ id }) => id === 'jobs.create/404-unknown-application')!
  Object.assign(row, { outcome: 'failed', failures: [failure()] })
}

test.each<[string, (whole: Report) => void, (predicate: Predicate) => void, RegExp]>([
  [
    'a failure under a verdict that was written by hand',
    fail,
    () => undefined,
    /but its requirements make it non-conformant/,
  ],
  [
    'a row left out of the report',
    (whole) => {
      whole.requirements = whole.requirements.filter(({ id }) => id !== 'jobs.create/409-atomic')
      consistent(whole)
    },
    () => undefined,
    /jobs\.create\/409-atomic is missing/,
  ],
  [
    'a row twice in place of another',
    (whole) => {
      const at = whole.requirements.findIndex(({ id }) => id === 'jobs.create/409-atomic')
      whole.requirements[at] = whole.requirements[at - 1]!
      consistent(whole)
    },
    () => undefined,
    /is in it twice/,
  ],
  [
    'a must that became a should',
    (whole) => {
      fail(whole)
      whole.requirements.find(({ id }) => id === 'jobs.create/404-unknown-application')!.level =
        'should'
      consistent(whole)
    },
    () => undefined,
    /is a must of jobs\.create, but the report has it as a should/,
  ],
  [
    'a failure declared not applicable',
    (whole) => {
      const row = whole.requirements.find(({ id }) => id === 'jobs.create/404-unknown-application')!
      Object.assign(row, { outcome: 'not-applicable', ...unreachableReason('I say so') })
      consistent(whole)
    },
    () => undefined,
    /declares nothing of the kind/,
  ],
  [
    'reasons for partial left out',
    (whole) => (whole.run.insecure = true),
    (predicate) => (predicate.partial = []),
    /does not say that it is partial/,
  ],
  [
    'a run made whole in the certificate',
    (whole) => (whole.run.insecure = true),
    (predicate) => {
      predicate.run.insecure = false
      predicate.partial = []
    },
    /its run does not follow from report\.json/,
  ],
  [
    'another verdict than the report has',
    (whole) => {
      fail(whole)
      consistent(whole)
    },
    (predicate) => {
      predicate.verdict = predicate.verdicts.exact = predicate.verdicts.family = 'conformant'
      predicate.partial = []
    },
    /its verdict does not follow|with must requirements failed/,
  ],
  [
    'the exchanges of another run',
    (whole) => (whole.run.requests = 1001),
    () => undefined,
    /they are \d+ of the 1001/,
  ],
])('a forged bundle is not valid: %s', async (_, change, lie, problem) => {
  const { valid, accepted, problems } = await forged(change, lie)
  expect({ valid, accepted }).toEqual({ valid: false, accepted: false })
  expect(problems.join('\n')).toMatch(problem)
})

test('requirements that were thinned out make no bundle of this version', async () => {
  const own = signer()
  const thin = catalogue.slice(0, 5)
  const digest = `sha256:${sha256(Buffer.from(canonicalize(thin)!)).sha256}`
  const few = wholeReport((whole) => {
    whole.requirements = whole.requirements.slice(0, 5)
    whole.suite.requirementsDigest = digest
    consistent(whole)
  })
  own.put('few.json', few)
  const har = exchanges()
  for (const entry of har.log.entries) entry._requirement = few.requirements[0]!.id
  own.put('run.har', har)
  await expect(own.bundle({ report: own.file('few.json'), partial: true })).rejects.toThrow(
    /are not those of version/,
  )
  await own.sign({ report: own.file('few.json'), partial: true })
  expect(own.verify('c.json', asked(own.id)).result.accepted).toBe(false)
  expect(() => own.verify('c.json', { report: own.file('few.json') })).toThrow(
    /can be told by version/,
  )
})

test('a bundle by whoever is not the one who is trusted is not accepted', async () => {
  const { bundle, verify, id } = signer()
  await bundle()
  const trusted = signer()
  expect(verify('b.zip', asked(trusted.id)).result).toMatchObject({ valid: true, accepted: false })
  expect(verify('b.zip', { publicKey: trusted.file('k.pub.pem') }).result.problems[0]).toMatch(
    /^it is not signed by the key given/,
  )
  const { lines, result } = verify('b.zip')
  expect(lines[0]).toMatch(/^Valid: conformant/)
  expect(lines[0]).toMatch(`, signed by an unknown key ${id}`)
  expect(result.accepted).toBe(true)
})
