import CoreDataSync
import Foundation
import LivePages

// Forms of synchronisation: the place, and secrets that the app does not know.
extension App {
    func syncForm(_ visit: Visit, _ typed: Form, _ problem: SyncCandidate.Problem?) -> HTML {
        let trouble = synchroniser.trouble.map { "<div class=\"notice problem\" role=alert><p>\($0)</p></div>" as HTML }
        let about: HTML = """
            <section class=card><h2>One list on several devices</h2>
            <p>Devices exchange changes through a folder that all of them can reach: on a network drive, or one that Syncthing, Dropbox \
            or Nextcloud copies. A WebDAV server, an S3 bucket or a household of Grocery Cloud does as well. Each device keeps its own list and works without a \
            connection.</p>
            """
        guard mayChoosePlace else {
            return """
                \(trouble)\(about)<p>Others can reach this server, so its folder is chosen where it is started: \
                <code>--sync-folder FOLDER --device NAME</code>, or <code>--sync-webdav URL</code>, or <code>--sync-s3 URL</code>.</p>\
                </section>
                """
        }
        let fields = SyncFields(place: TypedPlace(typed), problem: problem)
        let device = typed["device"] ?? ProcessInfo.processInfo.hostName
        let keeps = typed["device"] == nil || typed["keep"] != nil
        return """
            \(trouble)\(about)
            <form method=post action=/sync class=place>\(Page.token(visit.token))
            \(fields.kinds)
            <div class=in-folder>\(fields.folder)</div>
            <div class=in-webdav>\(fields.webDAV)</div>
            <div class=in-s3>\(fields.s3)</div>
            <div class=in-service>\(fields.service)</div>
            \(fields.input(.device, "Name of this device", value: device, " required maxlength=100"))
            \(fields.secret(.passphrase, "Passphrase (optional)", isNew: true, hint: Self.passphraseHint))
            \(Self.keepSwitch(keeps))
            <p class=row><button class=main>Synchronise</button></p></form></section>
            """
    }

    private static let passphraseHint: HTML = """
        With one, a person who has the folder or the bucket sees only the sizes of files. All devices use the same one. A lost one cannot \
        be replaced.
        """

    private static func keepSwitch(_ isOn: Bool) -> HTML {
        """
        <div class="field check"><label for=keep>Keep passphrase, password and keys in files beside the list, for the next start</label>\
        <input type=checkbox id=keep name=keep value=1\(" checked", if: isOn)></div>
        """
    }

    // MARK: Secrets that are not known

    func syncLock(_ visit: Visit, _ message: String?) -> HTML {
        guard let settings = synchroniser.settings else { return "" }
        let place = settings.place
        let leave: HTML = "<a class=button href=/sync/leave>Leave…</a>"
        // Who could type the password of another account could have the server write there.
        guard mayChoosePlace || !settings.needsCredentials else {
            let wanted = SyncOption.variables(of: place)
            return """
                <section class=card><h2>The \(Self.secretName(place)), please</h2><p>\(message ?? "")</p>
                <p>Others can reach this server, so it is started again with them in its environment: <code>\(wanted)</code>.</p>
                <p class=row>\(leave)</p></section>
                """
        }
        let title = settings.needsCredentials ? Self.secretName(place) : "passphrase"
        let text =
            message ?? "The \(title) \(title == "keys" ? "were" : "was") not kept. With it, synchronisation goes on."
        return """
            <section class=card><h2>The \(title), please</h2><p>\(text)</p>
            \(unlockForm(visit, settings, "Go on", leave))</section>
            """
    }

    private static func secretName(_ place: PlaceAddress) -> String {
        if case .s3 = place { return "keys" }
        return "password"
    }

    private func unlockForm(_ visit: Visit, _ settings: SyncSettings, _ button: HTML, _ other: HTML) -> HTML {
        let fields = SyncFields(place: TypedPlace(Form()), problem: nil)
        var content: HTML = ""
        if settings.needsCredentials {
            switch settings.place {
            case .folder: break
            case .webDAV: content += fields.account
            case .s3: content += fields.keys
            case .service(let service): content += fields.signIn(account: service.account)
            }
        }
        if settings.isSealed, synchroniser.phase != .on {
            content += fields.secret(.passphrase, "Passphrase", isNew: false)
        }
        return """
            <form method=post action=/sync/unlock>\(Page.token(visit.token))
            <p class=hint>\(settings.place.title): \(settings.place.name)</p>
            \(content)\(Self.keepSwitch(false))
            <p class=row><button class=main>\(button)</button> \(other)</p></form>
            """
    }

    /// Asks for another password of the server: it was changed there.
    func askCredentials(_ visit: Visit) -> Reply {
        guard mayChoosePlace, synchroniser.phase == .on, let settings = synchroniser.settings, settings.needsCredentials
        else { return .redirect("/sync") }
        return .page(
            page(
                "Sync", .sync,
                """
                <div class=card><h1>Another \(Self.secretName(settings.place))</h1>
                \(unlockForm(visit, settings, "Use", "<a class=button href=/sync>Cancel</a>"))</div>
                """))
    }

    func unlockSync(_ visit: Visit) async throws -> Reply {
        guard let settings = synchroniser.settings, mayChoosePlace || !settings.needsCredentials else {
            return .redirect("/sync")
        }
        let wasOn = synchroniser.phase == .on
        let form = visit.form
        var secrets = SyncSecrets(passphrase: form["passphrase"] ?? "")
        let again = wasOn ? "/sync/unlock" : "/sync"
        do {
            secrets.credentials = try TypedPlace(form, of: settings.place).credentials()
        } catch let problem as SyncCandidate.Problem {
            return .redirect(again, Flash(kind: .problem, text: problem.description))
        }
        let message = try await synchroniser.unlock(secrets, keeps: form["keep"] != nil)
        if wasOn, let message { return .redirect(again, Flash(kind: .problem, text: message)) }
        if message == nil { await synchroniser.exchangeNow() }
        return .redirect("/sync")
    }
}

/// The fields of a form that names a place.
struct SyncFields {
    let place: TypedPlace
    let problem: SyncCandidate.Problem?

    private static let kindNames: [(TypedPlace.Kind, HTML)] = [
        (.folder, "A folder on this machine"), (.webDAV, "A WebDAV server"), (.s3, "An S3 bucket"),
        (.service, "Grocery Cloud"),
    ]

    var kinds: HTML {
        let options = Self.kindNames.map { kind, name -> HTML in
            "<option value=\"\(kind.rawValue)\"\(" selected", if: kind == place.kind)>\(name)</option>"
        }
        return "<div class=field><label for=kind>Through</label><select id=kind name=kind>\(options)</select></div>"
    }

    var folder: HTML {
        input(
            .folder, "Folder on this machine", value: place.shown(.folder),
            " placeholder=\"/home/me/Sync/Groceries\" maxlength=1000")
    }

    var webDAV: HTML {
        let address = input(
            .address, "Address of a folder", value: place.shown(.address),
            " placeholder=\"https://cloud.example.com/remote.php/dav/files/ann/Groceries\" maxlength=1000 inputmode=url",
            hint: """
                The folder is made if it does not exist; the one above it must. Without https, others on the network can read the password.
                """
        )
        return "\(address)\(account)"
    }

    /// Name and password for a WebDAV server.
    var account: HTML {
        let user = input(.user, "User (empty for a token)", value: place.shown(.user), " maxlength=200")
        return "\(user)\(secret(.password, "Password or token", isNew: false))"
    }

    var s3: HTML {
        let endpoint = input(
            .endpoint, "Address of the service", value: place.shown(.endpoint),
            " placeholder=\"https://s3.eu-central-1.amazonaws.com\" maxlength=1000 inputmode=url")
        let region = input(
            .region, "Region", value: place.shown(.region), " placeholder=\"us-east-1\" maxlength=60")
        let bucket = input(
            .bucket, "Bucket", value: place.shown(.bucket), " maxlength=63", hint: "It must exist.")
        let prefix = input(
            .prefix, "Prefix (optional)", value: place.shown(.prefix), " placeholder=\"groceries/\" maxlength=500")
        return "\(endpoint)\(region)\(bucket)\(prefix)\(keys)"
    }

    var service: HTML {
        let address = input(
            .service, "Address of the service", value: place.shown(.service),
            " placeholder=\"https://groceries.example.com\" maxlength=1000 inputmode=url",
            hint:
                "Make an account and a household there first. Without https, others on the network can read the password."
        )
        let household = input(
            .household, "Household (empty for the only one)", value: place.shown(.household), " maxlength=100")
        return "\(address)\(signIn(account: place.shown(.account)))\(household)"
    }

    /// Name and password for a service. The password is not kept.
    func signIn(account: String) -> HTML {
        let name = input(.account, "Name of the account", value: account, " maxlength=100")
        return "\(name)\(secret(.accountPassword, "Password of the account", isNew: false))"
    }

    var keys: HTML {
        let access = input(.accessKey, "Access key", value: place.shown(.accessKey), " maxlength=200")
        return "\(access)\(secret(.secretKey, "Secret key", isNew: false))"
    }

    // MARK: One field

    func input(
        _ field: SyncCandidate.Field, _ label: HTML, value: String, _ attributes: HTML, hint: HTML? = nil
    ) -> HTML {
        let id = field.rawValue
        return wrapped(
            field, label, hint,
            """
            <input id="\(id)" name="\(id)" value="\(value)"\(attributes) autocomplete=off spellcheck=false autocapitalize=off\
            \(described(field, hint))>
            """)
    }

    /// A field that is never filled.
    func secret(_ field: SyncCandidate.Field, _ label: HTML, isNew: Bool, hint: HTML? = nil) -> HTML {
        let id = field.rawValue
        let kind: HTML = isNew ? "new-password" : "current-password"
        return wrapped(
            field, label, hint,
            """
            <input id="\(id)" name="\(id)" type=password maxlength=1000 autocomplete="\(kind)"\(described(field, hint))>
            """)
    }

    private func wrapped(_ field: SyncCandidate.Field, _ label: HTML, _ hint: HTML?, _ input: HTML) -> HTML {
        let id = field.rawValue
        let text: HTML =
            problem?.field == field ? "<p class=problem id=\"\(id)-problem\">\(problem?.description ?? "")</p>" : ""
        let below: HTML = hint.map { "<p class=hint id=\"\(id)-hint\">\($0)</p>" } ?? ""
        return "<div class=field><label for=\"\(id)\">\(label)</label>\(input)\(text)\(below)</div>\n"
    }

    private func described(_ field: SyncCandidate.Field, _ hint: HTML?) -> HTML {
        let id = field.rawValue
        if problem?.field == field { return " aria-invalid=true aria-describedby=\"\(id)-problem\"" }
        return hint == nil ? "" : " aria-describedby=\"\(id)-hint\""
    }
}
