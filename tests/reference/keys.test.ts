import { SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { publishedSecret, verify } from '../../reference/world/keys.ts'
import { target } from './client.ts'

const sign = (secret: string, expiresAt: number, algorithm = 'HS256') =>
  new SignJWT({ account: 'main', permissions: ['*'] })
    .setProtectedHeader({ alg: algorithm })
    .setExpirationTime(expiresAt)
    .sign(new TextEncoder().encode(secret))

const inAnHour = () => Math.floor(Date.now() / 1000) + 3600

test('the keys of the target file are what they are declared to be', async () => {
  expect(await verify(target.keys.full)).toMatchObject({ account: 'main', permissions: ['*'] })
  expect(await verify(target.keys.restricted)).toMatchObject({ account: 'main', permissions: [] })
  expect(await verify(target.keys.expired)).toBe('expired')
})

test('a key needs the published secret, the one algorithm and a time left', async () => {
  expect(await verify(await sign(publishedSecret, inAnHour()))).toMatchObject({ account: 'main' })
  expect(await verify(await sign(`${publishedSecret}!`, inAnHour()))).toBe('invalid')
  expect(await verify(await sign(publishedSecret, inAnHour(), 'HS512'))).toBe('invalid')
  expect(await verify(await sign(publishedSecret, 1_700_000_000))).toBe('expired')
})

test('a damaged key is not taken for the one that was checked before', async () => {
  const { full } = target.keys
  for (const damaged of [
    full.slice(0, -4),
    `${full}xxxx`,
    full.toUpperCase(),
    full.replace(/\.[^.]+$/, ''),
  ]) {
    expect(await verify(damaged)).toBe('invalid')
  }
})
