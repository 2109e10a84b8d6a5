import { leftOut } from '../../harness/report/reason.ts'
import { describe, expect, test } from 'vitest'
import { createResults, optionsFor } from '../../cli/session.ts'
import { patternMistake } from '../../library/options.ts'
import type { Failure, Report, RequirementResult } from '../../harness/report/report-schema.ts'
import { sampleReport } from '../reporters/sample-report.ts'

const [first, second, third] = sampleReport().requirements.map(({ id }) => id) as [
  string,
  string,
  string,
]

/** A report in which these requirements ended so, and all others were left out. */
function reportOf(outcomes: Readonly<Record<string, RequirementResult['outcome']>>): Report {
  const report = sampleReport()
  const requirements = report.requirements.map((result): RequirementResult => {
    const outcome = outcomes[result.id]
    if (outcome === undefined) {
      return { ...result, outcome: 'not-exercised', ...leftOut('--only'), failures: [] }
    }
    return { ...result, outcome, failures: outcome === 'failed' ? [failureOf(result.id)] : [] }
  })
  return { ...report, requirements }
}

function failureOf(id: string, needs: readonly string[] = [], seed = 7): Failure {
  const rerunIds = [id, ...needs]
  return {
    message: 'GET /',
    expected: '404',
    actual: '200',
    familyOnly: false,
    seed,
    rerunIds,
    rerun: 'conform',
  }
}

describe('what changed since the run before', () => {
  test('is not told of the first run', () => {
    expect(createResults().add(reportOf({ [first]: 'failed' }))).toBeUndefined()
  })

  test('is told of what was judged, by its last judgement', () => {
    const results = createResults()
    results.add(reportOf({ [first]: 'failed', [second]: 'passed', [third]: 'failed' }))
    expect(
      results.add(reportOf({ [first]: 'passed', [second]: 'failed', [third]: 'not-exercised' })),
    ).toEqual({
      newlyFailed: [second],
      newlyPassed: [first],
      lost: [third],
      stillFailed: 0,
    })
    // What could not be judged has not passed.
    expect(results.failed.map(({ id }) => id)).toEqual([second, third])
  })

  test('a part says nothing of the rest', () => {
    const results = createResults()
    results.add(reportOf({ [first]: 'failed', [second]: 'failed' }))
    const changes = results.add(reportOf({ [second]: 'failed' }))
    expect(changes).toEqual({ newlyFailed: [], newlyPassed: [], lost: [], stillFailed: 1 })
    expect(results.failed.map(({ id }) => id)).toEqual([first, second])
  })
})

describe('the options of a run of a part', () => {
  const options = {
    only: ['jobs.*'],
    skip: ['*/401-*'],
    header: {},
    tpe: 'exact',
    depth: 'full',
    report: ['json'],
    seed: 1,
  } as const
  const failed = [
    {
      ...sampleReport().requirements[0]!,
      id: first,
      failures: [failureOf(first, [second, 'no/such-id'], 99)],
    },
  ]

  test('select what failed and what shows it, with the inputs that it had, and write no report', () => {
    const chosen = optionsFor('failed', options, failed)
    expect(chosen).toMatchObject({ only: [first, second], skip: [], seed: 99, report: [] })
  })

  test('select one id, also one that did not fail or that was left out', () => {
    expect(optionsFor([third], options, failed)).toMatchObject({ only: [third], skip: [], seed: 1 })
    expect(optionsFor([first], options, failed)).toMatchObject({ only: [first, second], seed: 99 })
  })

  test('are those of the command line for all', () => {
    expect(optionsFor('all', options, failed)).toBe(options)
  })

  test('an id that does not exist is told with one that is near', () => {
    expect(patternMistake('files.list/2xx-acepted')).toContain(
      'did you mean files.list/2xx-accepted?',
    )
    expect(patternMistake('files.list/*')).toBeUndefined()
  })
})
