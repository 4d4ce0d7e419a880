"""A page in a browser: finding, clicking, typing, and what every page is checked for."""

import json
from contextlib import contextmanager

import pytest

By = pytest.importorskip("selenium.webdriver.common.by", reason="selenium is not installed").By
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
WebDriverWait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait


def find(page, selector):
    return page.find_element(By.CSS_SELECTOR, selector)


def find_all(page, selector):
    return page.find_elements(By.CSS_SELECTOR, selector)


def texts(page, selector):
    """The texts of all elements, in one call."""
    script = "return [...document.querySelectorAll(arguments[0])].map(e => e.innerText.trim())"
    return page.execute_script(script, selector)


def attributes(page, selector, name):
    """An attribute of all elements, in one call."""
    script = (
        "return [...document.querySelectorAll(arguments[0])].map(e => e.getAttribute(arguments[1]))"
    )
    return page.execute_script(script, selector, name)


def topic_name(page):
    return find(page, "#topic-name").text


def row_of(page, node):
    return find(page, f'#tree li[data-node="{node}"] > .row')


def set_slider(page, value):
    page.execute_script(
        "const s = document.getElementById('lambda'); s.value = arguments[0];"
        "s.dispatchEvent(new Event('input', {bubbles: true}));",
        value,
    )


def search_for(page, text):
    box = find(page, "#query")
    box.clear()
    box.send_keys(text)
    WebDriverWait(page, 5).until(lambda _: find_all(page, "#results button, #results h2"))
    WebDriverWait(page, 5).until(
        lambda _: page.execute_script(
            "return [...document.querySelectorAll('#results mark')].length > 0"
            " || document.querySelector('#results').textContent.includes('No document')"
            " || document.querySelector('#results b').textContent.includes(arguments[0])",
            text,
        )
    )
    return box


CONTRAST = """
const context = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
const rgba = (color) => {
  context.clearRect(0, 0, 1, 1); context.fillStyle = color; context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data].map((v) => v / 255);
};
const light = ([r, g, b]) => [r, g, b]
  .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const ratio = (a, b) => {
  const [x, y] = [light(rgba(a)), light(rgba(b))];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
};
const ground = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const color = getComputedStyle(e).backgroundColor;
    if (rgba(color)[3] === 1) return color;
  }
  return "white";
};
const low = [];
for (const e of document.querySelectorAll("body *")) {
  const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!own || !e.checkVisibility() || e.closest("script, .hidden")) continue;
  const style = getComputedStyle(e);
  const isSvg = e.namespaceURI.endsWith("svg");
  if (isSvg && e.tagName !== "text") continue;
  const back = isSvg ? getComputedStyle(e.parentElement.querySelector("rect")).fill : ground(e);
  const value = ratio(isSvg ? style.fill : style.color, back);
  if (value < 4.5) low.push([e.tagName, e.className.toString(), e.textContent.slice(0, 20), value]);
}
return low;
"""


@contextmanager
def emulated(page, **media):
    """A page as printed, or in the dark."""
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    try:
        yield
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def scheme(name):
    return {"features": [{"name": "prefers-color-scheme", "value": name}]}


@contextmanager
def width_of(page, width, height=900):
    """A page on a screen of another width."""
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    try:
        yield
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def overflows(page):
    return page.execute_script("return document.documentElement.scrollWidth > window.innerWidth")


def requested(page):
    """All addresses that a page asked for since the log was read last."""
    sent = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    urls = [
        m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"
    ]
    return {url.partition("#")[0] for url in urls} - {"data:,"}
