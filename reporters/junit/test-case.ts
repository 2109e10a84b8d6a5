import type { XMLBuilder } from 'xmlbuilder2/lib/interfaces.js'
import type { RequirementResult } from '../../harness/report/model.ts'
import { xmlAttribute, xmlText } from '../escape/xml.ts'
import { evidenceText } from '../view/evidence.ts'
import { sections } from '../view/sections.ts'
import type { TestStatus } from '../view/test-status.ts'

/** A requirement as a test case. What does not decide, or was not judged, is skipped and says why: JUnit has no other word. */
export function testCase(suite: XMLBuilder, result: RequirementResult, { kind, message = '' }: TestStatus): void {
  const element = suite.ele('testcase', {
    name: xmlAttribute(result.id),
    classname: xmlAttribute(result.operation),
    time: seconds(result.durationMs),
  })
  if (kind === 'failed') {
    const asked = `${result.level} (${sections(result.section)}): ${result.statement}`
    element
      .ele('failure', { message: xmlAttribute(message), type: result.level })
      .txt(xmlText([asked, ...result.failures.map(evidenceText)].join('\n\n')))
  }
  if (kind === 'skipped') element.ele('skipped', { message: xmlAttribute(message) })
}

/** Milliseconds as JUnit writes a time: seconds with three decimals. */
export function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}
