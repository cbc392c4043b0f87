/// The page to which links in mails lead: sets a new password, or confirms an address.
///
/// The token is behind `#` of the address, which browsers send to no server. The script removes it from the address, and
/// sends it only after the person has asked for it.
enum LinkPage {
    static func html(name: String) -> String {
        let page: Markup = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(name)</title>
            <link rel="stylesheet" href="/style.css">
            </head>
            <body>
            <main>
            <h1>\(name)</h1>
            <form id="password" hidden>
            <p><label for="new">New password</label><br>
            <input id="new" type="password" autocomplete="new-password" required></p>
            <p><button>Set the password</button></p>
            </form>
            <form id="email" hidden><p><button>Confirm the address</button></p></form>
            <p id="state" role="status">This page needs a link from a mail, and JavaScript.</p>
            </main>
            <script src="/links.js"></script>
            </body>
            </html>

            """
        return page.text
    }

    static let script = """
        "use strict";
        const [purpose, token] = location.hash.slice(1).split("=");
        const form = ["password", "email"].includes(purpose) && token ? document.getElementById(purpose) : null;
        const state = document.getElementById("state");
        history.replaceState(null, "", location.pathname);
        if (form) {
          form.hidden = false;
          state.textContent = "";
          form.addEventListener("submit", async (event) => {
            event.preventDefault();
            const button = form.querySelector("button");
            button.disabled = true;
            const password = document.getElementById("new").value;
            try {
              const answer = purpose === "password"
                ? await send("PUT", "/password-resets", { token, password })
                : await send("POST", "/email-confirmations", { token });
              if (answer.ok) {
                form.hidden = true;
                state.textContent = purpose === "password" ? "The password is set: sign in." : "The address is confirmed.";
                return;
              }
              state.textContent = (await answer.json()).detail;
            } catch {
              state.textContent = "The service cannot be reached. Try again.";
            }
            button.disabled = false;
          });
        }
        function send(method, path, body) {
          return fetch(path, { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
        }

        """
}
