import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { validateXML } from 'xmllint-wasm'

const contents = readFileSync(new URL('./jenkins-junit.xsd', import.meta.url), 'utf8')

/** By the schema of Jenkins. */
export async function validateJunit(xml: string) {
  const { errors } = await validateXML({
    xml: { fileName: 'report.xml', contents: xml },
    schema: { fileName: 'junit.xsd', contents },
  })
  expect(errors).toEqual([])
}
