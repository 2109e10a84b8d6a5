import type { XMLBuilder } from 'xmlbuilder2/lib/interfaces.js'
import type { RequirementResult } from '../../harness/report/model.ts'
import { xmlAttribute, xmlText } from '../escape/xml.ts'
import { evidenceText, failureSentence } from '../view/evidence.ts'
import { sections } from '../view/sections.ts'

/** A requirement as a test case. What was not judged is skipped, with the reason: JUnit has no other word for it. */
export function testCase(suite: XMLBuilder, result: RequirementResult): void {
  const element = suite.ele('testcase', {
    name: xmlAttribute(result.id),
    classname: xmlAttribute(result.operation),
    time: seconds(result.durationMs),
  })
  if (result.outcome === 'failed') {
    const asked = `${result.level} (${sections(result.section)}): ${result.statement}`
    element
      .ele('failure', { message: xmlAttribute(failureSentence(result)), type: result.level })
      .txt(xmlText([asked, ...result.failures.map(evidenceText)].join('\n\n')))
  }
  if (result.outcome === 'not-exercised' || result.outcome === 'not-applicable') {
    const reason = `${result.outcome}: ${result.reason ?? 'no reason was recorded'}`
    element.ele('skipped', { message: xmlAttribute(reason) })
  }
}

/** Milliseconds as JUnit writes a time: seconds with three decimals. */
export function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}
