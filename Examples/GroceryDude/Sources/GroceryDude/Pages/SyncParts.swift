import CoreDataSync
import Foundation
import LivePages

// How synchronisation goes: pieces that open pages follow.
extension App {
    func syncOverview(_ visit: Visit) -> HTML {
        let token = Page.token(visit.token)
        let hasCredentials = mayChoosePlace && synchroniser.settings?.needsCredentials == true
        return """
            <section class=card>\(syncState)
            <form method=post action=/sync/exchange>\(token)<p class=row><button class=main>Exchange now</button> \
            \("<a class=button href=/sync/unlock>Password or keys…</a> ", if: hasCredentials)\
            <a class=button href=/sync/leave>Leave…</a></p></form></section>
            <form method=post action=/sync/restore>\(token)\(syncConflicts)</form>
            \(syncWaiting)
            \(syncDevices)
            """
    }

    /// Tells open pages what has changed.
    func tellSync(isOtherPhase: Bool) {
        if isOtherPhase {
            toldSync = [:]
            return feed.sendStale()
        }
        let parts = [
            "sync-state": syncState, "sync-conflicts": syncConflicts, "sync-waiting": syncWaiting,
            "sync-devices": syncDevices,
        ].filter { toldSync[$0.key] != $0.value.text }
        for (id, part) in parts { toldSync[id] = part.text }
        if !parts.isEmpty { feed.send("parts", LiveParts(title: counts.open, badges: [:], parts: parts), to: "sync") }
        let badge = syncBadge
        if badge != toldBadge {
            toldBadge = badge
            feed.send("parts", LiveParts(title: counts.open, badges: [Tab.sync.rawValue: badge]))
        }
    }

    /// The number of conflicts.
    var syncBadge: Badge {
        let count = shownConflicts.count
        return Badge(count: count, label: Count.of(count, "conflict"))
    }

    private var shownConflicts: [ShownConflict] {
        ShownConflict.list(synchroniser.conflicts, synchroniser.devices, in: groceries)
    }

    // MARK: The state

    private var syncState: HTML {
        let state = synchroniser.state
        let (kind, title, text) = headline(state)
        let last = state.lastExchange.map { Self.moment($0) } ?? "none yet"
        let settings = synchroniser.settings
        return """
            <div id=sync-state data-part><p class="state \(kind.name)">\(kind.icon)<b>\(title)</b></p>
            \(text.map { "<p>\($0)</p>" as HTML })<dl><dt>Last exchange<dd>\(last)
            <dt>To send<dd>\(state.unsent == 0 ? "nothing" : Count.of(state.unsent, "file"))
            <dt>\(settings?.place.title ?? "")<dd>\(settings?.place.name ?? "")\(", sealed by a passphrase", if: settings?.isSealed == true)
            <dt>This device<dd>\(settings?.device ?? "")</dl></div>
            """
    }

    private enum Kind {
        case good, busy, bad

        var name: HTML {
            switch self {
            case .good: "good"
            case .busy: "busy"
            case .bad: "bad"
            }
        }

        var icon: HTML {
            switch self {
            case .good: Icon.svg("<circle cx=12 cy=12 r=9 /><path d=\"M8 12.5l3 3 5-6\"/>")
            case .busy: Icon.svg("<circle cx=12 cy=12 r=9 /><path d=\"M12 7v5l3 2\"/>")
            case .bad: Icon.svg("<path d=\"M12 4l9 16H3zM12 10v4M12 17v.1\"/>")
            }
        }
    }

    private func headline(_ state: SyncState) -> (kind: Kind, title: String, text: String?) {
        if let trouble = synchroniser.trouble { return (.bad, "Not possible", trouble) }
        if let failure = synchroniser.failure {
            return (.bad, "Not exchanged", "\(failure.message) \(Self.next(failure.retry))")
        }
        switch state.activity {
        case .stopped: return (.busy, "Beginning…", nil)
        case .idle:
            return state.waiting == 0
                ? (.good, "Up to date", nil)
                : (.good, "Up to date", "Something waits: see below.")
        case .capturing: return (.busy, "Reading changes…", nil)
        case .sending(let done, let total): return (.busy, "Sending \(min(done + 1, total)) of \(total)…", nil)
        case .receiving: return (.busy, "Receiving…", nil)
        case .applying: return (.busy, "Taking over changes…", nil)
        case .failed(let error, let retry):
            return (.bad, "Not exchanged", "\(synchroniser.message(error)) \(Self.next(retry))")
        }
    }

    private static func next(_ retry: Date) -> String {
        "Changes wait on this device. Next attempt: \(moment(retry))."
    }

    /// "08:30:05", or the day too if that is another one.
    static func moment(_ date: Date) -> String {
        let isToday = Calendar.current.isDateInToday(date)
        let time = Date.VerbatimFormatStyle(
            format:
                "\(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits)",
            timeZone: .current, calendar: Calendar(identifier: .gregorian))
        return isToday ? date.formatted(time) : day(date)
    }

    private static func day(_ date: Date) -> String {
        date.formatted(
            Date.VerbatimFormatStyle(
                format: "\(year: .defaultDigits)-\(month: .twoDigits)-\(day: .twoDigits)", timeZone: .current,
                calendar: Calendar(identifier: .gregorian)))
    }

    // MARK: Conflicts

    private static let mostConflicts = 50

    private var syncConflicts: HTML {
        let all = shownConflicts
        guard !all.isEmpty else { return "<div id=sync-conflicts data-part></div>" }
        let rest: HTML =
            all.count > Self.mostConflicts
            ? "<p class=hint>The newest \(Self.mostConflicts). The others follow when these are decided.</p>" : ""
        return """
            <div id=sync-conflicts data-part><section><h2>Conflicts <span>\(all.count)</span></h2>
            <ul>\(all.prefix(Self.mostConflicts).map(Self.row))</ul>\(rest)</section></div>
            """
    }

    private static func row(_ conflict: ShownConflict) -> HTML {
        let text: HTML
        if let value = conflict.value {
            text = """
                <p>\(value.label): it is <q>\(value.present)</q>. \(conflict.device) had made it <q>\(value.losing)</q> without \
                knowing of that.</p>
                """
        } else {
            let values: HTML = conflict.values.isEmpty ? "" : " It had: \(conflict.values.joined(separator: ", "))."
            text = "<p>It was deleted on another device while it was changed here.\(values)</p>"
        }
        let id = conflict.id.uuidString
        return """
            <li class=loser><b>\(conflict.title)</b>\(text)<p class=row>\
            <button name=id value="\(id)" aria-label="Bring back: \(conflict.title)">Bring back</button> \
            <button name=id value="\(id)" formaction=/sync/dismiss aria-label="Dismiss: \(conflict.title)">Dismiss</button></p>
            """
    }

    // MARK: What waits

    private var syncWaiting: HTML {
        let troubles = synchroniser.state.troubles
        guard !synchroniser.waiting.isEmpty || !troubles.isEmpty else { return "<div id=sync-waiting data-part></div>" }
        let rows = synchroniser.waiting.map { waiting -> HTML in
            let name = waiting.entity.replacingOccurrences(of: "_", with: " ")
            return "<li class=loser><b>\(waiting.count) × \(name)</b><p>\(Self.text(waiting.reason))</p>"
        }
        return """
            <div id=sync-waiting data-part><section><h2>Waiting</h2><ul>\(rows)\
            \(troubles.map { "<li class=loser><p>\($0)</p>" as HTML })</ul></section></div>
            """
    }

    private static func text(_ reason: SyncWaiting.Reason) -> String {
        switch reason {
        case .unknownEntity, .unknownProperty: "A newer Grocery Dude wrote it. Update this one, and it is taken over."
        case .missingValue: "Its picture has not arrived yet. It is taken over when its file is there."
        case .missingObject: "What it belongs to has not arrived yet. It is taken over then."
        case .refused(let reason): "The list refuses it: \(reason)"
        }
    }

    // MARK: Devices

    private var syncDevices: HTML {
        let devices = synchroniser.devices
        guard !devices.isEmpty else { return "<div id=sync-devices data-part></div>" }
        return """
            <div id=sync-devices data-part><section><h2>Devices <span>\(devices.count)</span></h2>
            <ul>\(devices.map(Self.row))</ul></section></div>
            """
    }

    private static func row(_ device: SyncDevice) -> HTML {
        "<li class=loser><b>\(device.name)</b><p>\(text(device))</p>"
    }

    private static func text(_ device: SyncDevice) -> String {
        if device.isThisDevice { return "This device" }
        if device.hasExpired {
            return
                "Not seen since \(day(device.lastSeen)). Files are kept for it no more; it reads the whole list when it returns."
        }
        let behind =
            device.behind == 0
            ? "Has everything of this device." : "Has not received \(Count.of(device.behind, "file")) of this device."
        return "\(behind) Last seen: \(moment(device.lastSeen)). Files are kept for it until \(day(device.leaseEnds))."
    }

    // MARK: Decisions

    func exchangeNow(_ visit: Visit) async -> Reply {
        switch await synchroniser.exchangeNow() {
        case true?: return .redirect("/sync", Flash(text: "Exchanged."))
        case false?: return .redirect("/sync", Flash(kind: .problem, text: "Not exchanged."))
        case nil: return .redirect("/sync", Flash(text: "It takes a while; the page shows how it goes."))
        }
    }

    func bringBack(_ visit: Visit) async throws -> Reply {
        guard let id = UUID(uuidString: visit.form["id"] ?? ""), try await synchroniser.bringBack(id) else {
            return .redirect("/sync", Flash(kind: .problem, text: "This conflict is decided already."))
        }
        return .redirect("/sync", Flash(text: "It is brought back, on all devices."))
    }

    func dismissConflicts(_ visit: Visit) async throws -> Reply {
        if let id = UUID(uuidString: visit.form["id"] ?? "") { try await synchroniser.dismiss(id) }
        return .redirect("/sync", Flash(text: "It stays as it is."))
    }
}
