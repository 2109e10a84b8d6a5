import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'

const path = new URL('../../schemas/openapi.json', import.meta.url)
const text = readFileSync(path, 'utf8')

/** Findings of the linters in a document. */
async function problemsOf(
  source: string,
): Promise<{ readonly bySchema: unknown; readonly byRules: readonly string[] }> {
  const bySchema = await new Validator().validate(JSON.parse(source))
  const rules = {
    // The interface has two paths that only differ in what a parameter may be, and they have different methods.
    'no-ambiguous-paths': 'off',
    // The interface names no license.
    'info-license': 'off',
    // Additional members are allowed everywhere.
    'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: true },
  } as const
  const config = await createConfig({ extends: ['recommended-strict'], rules })
  const problems = await lintFromString({ source, absoluteRef: path.pathname, config })
  return { bySchema, byRules: problems.map(({ ruleId, message }) => `${ruleId}: ${message}`) }
}

test('two linters that share no code accept it', async () => {
  expect(await problemsOf(text)).toEqual({ bySchema: { valid: true }, byRules: [] })
})

test('each of them finds what is wrong', async () => {
  const { bySchema } = await problemsOf(text.replace('"in": "path"', '"in": "tea"'))
  expect(bySchema).toMatchObject({ valid: false })
  const { byRules } = await problemsOf(
    text.replace('#/components/schemas/Job"', '#/components/schemas/Tea"'),
  )
  expect(byRules.join()).toContain('no-unresolved-refs')
})
