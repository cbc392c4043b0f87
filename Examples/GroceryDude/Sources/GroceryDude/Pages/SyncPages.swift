import CoreDataSync
import Foundation
import LivePages

// Synchronisation with other devices: choosing a place, joining, leaving.
extension App {
    static let mostCandidates = 20

    func syncPage(
        _ visit: Visit, status: Int = 200, typed: Form = Form(), problem: SyncCandidate.Problem? = nil
    ) -> Reply {
        let content: HTML
        switch synchroniser.phase {
        case _ where !synchroniser.isPossible: content = Self.noNeed
        case .on: content = syncOverview(visit)
        case .locked(let message): content = syncLock(visit, message)
        case .off: content = syncForm(visit, typed, problem)
        }
        return .page(
            page(
                "Sync", .sync, live: "sync",
                """
                <header class=top><a class="back phone" href=/more aria-label="Back to More">\(Icon.back)</a><h1>Sync</h1></header>
                <div id=list class=sync>
                \(content)</div>
                """), status: status)
    }

    private static let noNeed: HTML = """
        <section class=card><h2>There is no need</h2><p>The list is on a database server: every Grocery Dude that uses it shows the \
        same list at once. Lists in files synchronise.</p></section>
        """

    // MARK: Joining

    /// Joins an empty place; for one that devices use already there is a question first.
    func choosePlace(_ visit: Visit) async throws -> Reply {
        guard synchroniser.phase == .off, synchroniser.isPossible, mayChoosePlace else { return .redirect("/sync") }
        do {
            var candidate = try SyncCandidate(
                TypedPlace(visit.form), device: visit.form["device"] ?? "",
                passphrase: visit.form["passphrase"] ?? "", keepsSecrets: visit.form["keep"] != nil)
            try await candidate.signIn()
            candidate.devices = try await candidate.check()
            guard candidate.devices > 0 else { return try join(candidate) }
            if candidates.count >= Self.mostCandidates { candidates = [:] }
            candidates[visit.token] = candidate
            return .redirect("/sync/join")
        } catch let problem as SyncCandidate.Problem {
            return syncPage(visit, status: 422, typed: visit.form, problem: problem)
        }
    }

    private func join(_ candidate: SyncCandidate) throws -> Reply {
        try synchroniser.join(candidate)
        return .redirect("/sync", Flash(text: "This list synchronises as “\(candidate.settings.device)”."))
    }

    /// Asks what happens to the things of both.
    func askSeeding(_ visit: Visit) -> Reply {
        guard let candidate = candidates[visit.token] else { return .redirect("/sync", Self.candidateGone) }
        let devices = candidate.devices
        let choices = Self.choices.map { choice -> HTML in
            """
            <li><button name=seeding value="\(choice.seeding.rawValue)"\(" class=\"danger quiet\"", if: choice.seeding == .replaceLocal)>\
            \(choice.title)</button><p>\(choice.text)</p>
            """
        }
        return .page(
            page(
                "Join", .sync,
                """
                <div class=card><h1>This \(candidate.settings.place.noun) has a list already</h1>
                <p>\(Count.of(devices, "device")) \(devices == 1 ? "uses" : "use") it. Things of one name are the same thing. What becomes \
                of those that are in both lists?</p>
                <form method=post action=/sync/join>\(Page.token(visit.token))
                <ul class=choices>\(choices)</ul>
                <p class=row><a class=button href=/sync>Cancel</a></p></form></div>
                """))
    }

    private static let choices: [(seeding: Seeding, title: HTML, text: HTML)] = [
        (
            .merge, "Merge both lists",
            "Everything of both. Where a thing differs, all devices choose the same one of its values."
        ),
        (.preferLocal, "Keep this list", "Everything of both. Where a thing differs, it becomes as it is here."),
        (.preferRemote, "Take theirs", "Everything of both. Where a thing differs, it becomes as it is there."),
        (
            .replaceLocal, "Replace this list by theirs",
            "What is only here goes away. Other devices lose nothing, and a backup of this list is made first."
        ),
    ]

    private static let candidateGone = Flash(kind: .problem, text: "That took too long: choose the place again.")

    func joinAsAnswered(_ visit: Visit) async throws -> Reply {
        guard var candidate = candidates[visit.token] else { return .redirect("/sync", Self.candidateGone) }
        guard let seeding = Seeding(rawValue: visit.form["seeding"] ?? "") else { return .redirect("/sync/join") }
        candidate.settings.seeding = seeding
        if seeding == .replaceLocal { try await groceries.keepBackup("before-sync") }
        candidates[visit.token] = nil
        return try join(candidate)
    }

    // MARK: Leaving

    func askLeaving(_ visit: Visit) -> Reply {
        guard let settings = synchroniser.settings else { return .redirect("/sync") }
        let unsent: HTML =
            synchroniser.state.unsent == 0
            ? ""
            : "<p><b>Some changes of this list have not been sent yet.</b> The others do not get them. Exchange first.</p>"
        return .page(
            page(
                "Leave", .sync,
                """
                <div class=card><h1>Leave the \(settings.place.noun)?</h1>
                <p>This list stays as it is, and follows the others no more. The other devices keep what they have. \
                Conflicts that are not decided are forgotten.</p>\(unsent)
                <form method=post action=/sync/leave>\(Page.token(visit.token))
                <div class="field check"><label for=untold>Leave even if “\(settings.place.name)” cannot be reached</label>\
                <input type=checkbox id=untold name=untold value=1></div>
                <p class=row><button class=danger>Leave</button> <a class=button href=/sync>Cancel</a></p></form></div>
                """))
    }

    func leavePlace(_ visit: Visit) async throws -> Reply {
        guard synchroniser.settings != nil else { return .redirect("/sync") }
        do { try await synchroniser.leave(isForced: visit.form["untold"] != nil) } catch let error as SyncPlaceError {
            return .redirect(
                "/sync/leave",
                Flash(kind: .problem, text: "\(error.message) Or leave although it cannot be reached: tick the box."))
        }
        return .redirect("/sync", Flash(text: "This list does not synchronise any more."))
    }
}
