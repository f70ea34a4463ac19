"use strict";
(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const board = document.getElementById("scoreboard");
  const claims = board ? [...board.tBodies] : [];
  const plain = (text) => text.toLowerCase().replaceAll("\u2212", "-");

  // ---- an opened claim shows thumbnails of its figures; the style sheet shows and hides its evidence

  const illustrate = (claim) => {
    const evidence = claim.rows[1];
    for (const link of all(".see a:not(:has(img))", evidence)) {
      const picture = document.getElementById(link.hash.slice(1)).querySelector("img");
      if (!picture) continue;
      const small = picture.cloneNode();
      small.alt = ""; // the link has a name
      link.prepend(small);
    }
  };
  for (const claim of claims) {
    const more = claim.querySelector(".more");
    more.addEventListener("toggle", () => more.open && illustrate(claim));
  }

  // ---- filter: if no severity is pressed, claims of all severities are shown; so for outcomes

  const filter = document.querySelector(".filter");
  const find = document.getElementById("find");
  const kinds = ["severity", "outcome"];
  const only = all(".only button");
  const pressed = (button) => button.ariaPressed === "true";

  const apply = () => {
    const wanted = (kind) => only.filter(pressed).map((b) => b.dataset[kind]).filter(Boolean);
    const asked = kinds.map((kind) => [kind, wanted(kind)]).filter(([, some]) => some.length);
    const words = plain(find.value).split(/\s+/);
    let shown = 0;
    for (const claim of claims) {
      const text = plain(claim.rows[0].textContent);
      const fits = asked.every(([kind, some]) => some.includes(claim.dataset[kind]));
      claim.hidden = !(fits && words.every((word) => text.includes(word)));
      shown += !claim.hidden;
    }
    document.getElementById("found").value = `${shown} of ${claims.length} claims`;
    document.querySelector(".nothing").hidden = shown > 0;
  };
  for (const button of only) {
    button.addEventListener("click", () => {
      button.ariaPressed = String(!pressed(button));
      apply();
    });
  }
  if (filter) {
    filter.hidden = false;
    find.addEventListener("input", apply);
  }

  // ---- sort: the first column sorts by the order of the paper

  const order = (a, b) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    return isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b;
  };
  const heads = board ? [...board.tHead.rows[0].cells] : [];
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const down = head.ariaSort === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.ariaSort = down ? "descending" : "ascending";
      const key = (claim, at) => claim.rows[0].cells[at].dataset.key;
      const sorted = claims.toSorted((one, two) => {
        const [a, b] = [key(one, column), key(two, column)];
        const by = order(a, b);
        return (down && a !== "" && b !== "" ? -by : by) || order(key(one, 0), key(two, 0));
      });
      board.append(...sorted);
    });
  });

  // ---- a link to a claim opens the claim

  const follow = () => {
    let name = location.hash.slice(1);
    try {
      name = decodeURIComponent(name);
    } catch {
      return; // not a valid link
    }
    const target = document.getElementById(name);
    if (!target) return;
    if (claims.includes(target)) {
      if (target.hidden) {
        find.value = "";
        for (const button of only) button.ariaPressed = "false";
        apply();
      }
      target.querySelector(".more").open = true;
    }
    target.scrollIntoView();
  };
  addEventListener("hashchange", follow);
  follow();

  // ---- pictures

  for (const figure of all("figure:has(.picture)")) {
    const save = figure.querySelector(".save");
    save.href = figure.querySelector("img").src;
    save.hidden = false;
    const enlarge = figure.querySelector(".enlarge");
    enlarge.hidden = false;
    enlarge.addEventListener("click", () => {
      enlarge.ariaPressed = String(enlarge.ariaPressed !== "true");
    });
  }
})();
