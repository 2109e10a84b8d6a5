import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'

const path = new URL('../../schemas/openapi.json', import.meta.url)
const text = readFileSync(path, 'utf8')

/** Whether the document fits the schema of OpenAPI. */
const bySchema = (source: string): Promise<unknown> => new Validator().validate(JSON.parse(source))

/** Findings by the rules of another linter. */
async function byRules(source: string): Promise<readonly string[]> {
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
  return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)
}

test('two linters that share no code accept it', async () => {
  expect(await bySchema(text)).toEqual({ valid: true })
  expect(await byRules(text)).toEqual([])
})

test('each of them finds what is wrong', async () => {
  expect(await bySchema(text.replace('"in": "path"', '"in": "tea"'))).toMatchObject({
    valid: false,
  })
  const unresolved = text.replace('#/components/schemas/Job"', '#/components/schemas/Tea"')
  expect((await byRules(unresolved)).join()).toContain('no-unresolved-refs')
})
