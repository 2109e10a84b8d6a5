import { decisive } from '../../harness/report/exit-code.ts'
import type { Report, RequirementResult } from '../../harness/report/model.ts'
import { failureSentence } from './evidence.ts'

/**
 * A requirement in formats that know only tests: `failed` is what decides the exit code, and nothing else. A failure that is
 * expected, or a `should`, is skipped and says what it did, as does whatever was not judged.
 */
export interface TestStatus {
  readonly kind: 'passed' | 'failed' | 'skipped'
  /** Absent for what passed. */
  readonly message?: string
}

export function testStatuses(report: Report): (result: RequirementResult) => TestStatus {
  const decides = new Set(decisive(report).map(({ id }) => id))
  const stale = new Map(report.run.baseline?.stale.map(({ id, why }) => [id, why]))
  const expected = new Set(report.run.baseline?.expected)
  return (result) => {
    const { id, outcome } = result
    if (outcome === 'passed') return { kind: 'passed' }
    if (outcome === 'failed') {
      const said = failureSentence(result)
      const why = stale.get(id)
      if (decides.has(id)) return { kind: 'failed', message: why === undefined ? said : `${said}; baseline: ${why}` }
      const known = expected.has(id)
        ? `failed as ${report.run.baseline!.file} expects`
        : 'a failed should does not decide'
      return { kind: 'skipped', message: `${known}: ${said}` }
    }
    const message = `${outcome}: ${result.reason ?? 'no reason was recorded'}`
    return decides.has(id)
      ? { kind: 'failed', message: `${message} (--require-exercised)` }
      : { kind: 'skipped', message }
  }
}
