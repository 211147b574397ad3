// A browser on a server, with what a page must not do noted: console errors, uncaught exceptions, policy violations, requests to elsewhere.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
// On a busy machine; the whole program has a limit of its own.
export const PATIENCE_MS = 300000;

export const plain = (text) => (text ?? '').replace(/[\u202f\u00a0]/g, ' ');
export const grouped = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, ' ');

/** {browser, page, api, trouble, expected}: `trouble` collects what is wrong, but for what `expected` (patterns) allows. */
export async function openBrowser(server, viewport) {
  const trouble = [],
    // The icon of a page that is left at once is asked for by the blank one after it.
    expected = [/icon\.svg' from origin 'null'/, /net::ERR_FAILED .*\/icon\.svg$/];
  const browser = await chromium.launch({ executablePath: process.env.CM_CHROMIUM, args: FLAGS });
  const context = await browser.newContext({ viewport, colorScheme: 'light' });
  await context.addInitScript(() =>
    document.addEventListener('securitypolicyviolation', (event) =>
      console.error(`Content Security Policy: ${event.violatedDirective} ${event.blockedURI}`),
    ),
  );
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  page.on('console', (message) => {
    const text = `${message.text()} ${message.location().url}`;
    if (message.type() !== 'error' && !/Content.Security.Policy/i.test(text)) return;
    if (!expected.some((pattern) => pattern.test(text))) trouble.push(text);
  });
  page.on('response', async (response) => {
    if (response.status() >= 500) trouble.push(await response.text().catch(String));
  });
  page.on('pageerror', (error) => trouble.push(error.stack));
  page.on('request', (request) => {
    if (!request.url().startsWith(server.url)) trouble.push(`asked another host: ${request.url()}`);
  });
  const getJson = async (path) => {
    const response = await context.request.get(`${server.url}${path}`);
    assert.equal(response.status(), 200, path);
    return response.json();
  };
  /** By way of a blank page: a change of the hash alone would leave the last page's heading to be found. */
  const go = async (hash) => {
    await page.goto('about:blank');
    await page.goto(`${server.url}/${hash}`);
    await page.waitForSelector('h1');
  };
  return { browser, page, api: context.request, trouble, expected, getJson, go };
}
