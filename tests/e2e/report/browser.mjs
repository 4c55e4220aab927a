// The browser of the tests: Debian's Chromium, headless, driven by playwright-core. CHROMIUM names
// another one.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

export async function startBrowser() {
    const path = process.env.CHROMIUM ||
        process.env.PATH.split(':').map(folder => join(folder, 'chromium')).find(existsSync);
    if (!path || !existsSync(path)) throw new Error('there is no chromium: install it, or name one in CHROMIUM');
    // Chromium refuses its sandbox when it runs as root
    const args = process.getuid() === 0 ? ['--no-sandbox'] : [];
    return chromium.launch({ executablePath: path, args, headless: true });
}

export const SIZES = {
    desktop: { viewport: { width: 1280, height: 900 } },
    phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
};

// A page with the report open. `problems` gathers what must not happen: messages on the console,
// errors, dialogs, requests beyond the file itself.
export async function openReport(browser, file, options = {}) {
    const context = await browser.newContext({ ...SIZES.desktop, ...options });
    const page = await context.newPage(), url = pathToFileURL(file).href, problems = [];
    page.on('console', message => problems.push(`console ${message.type()}: ${message.text()}`));
    page.on('pageerror', error => problems.push(`error: ${error.message}`));
    page.on('dialog', dialog => { problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on('popup', popup => problems.push(`window: ${popup.url()}`));
    page.on('request', request => {
        const address = request.url();
        if (address !== url && !address.startsWith('data:image/')) problems.push(`request: ${address.slice(0, 200)}`);
    });
    await page.goto(url);
    return { page, problems, url, close: () => context.close() };
}
