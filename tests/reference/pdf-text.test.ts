import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { pdfText } from '../../reference/operations/pdf.ts'

const sample = (name: string) =>
  readFileSync(new URL(`../../fixtures/pdf/${name}.pdf`, import.meta.url))

test('the extractor finds the sentences of the good PDF', async () => {
  expect(await pdfText(sample('good'))).toEqual([
    'Tea leaves unfold slowly in hot water.\nThis sentence proves that text was extracted.',
  ])
})

test('the extractor itself refuses the corrupted and the encrypted PDF', async () => {
  expect(await pdfText(sample('corrupted'))).toBe('corrupted')
  expect(await pdfText(sample('encrypted'))).toBe('encrypted')
})
