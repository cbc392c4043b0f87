import CoreData
import Foundation
import Hummingbird
import LivePages

// The editor of movies.
extension App {
    func newMoviePage(_ visit: Visit) throws -> Reply {
        let session = EditSession(movies, nil, token: visit.token)
        if let title = visit.query["title"] { session.form.values[.title] = title }
        return try editor(session, visit)
    }

    func editPage(_ visit: Visit) throws -> Reply {
        guard let movie = movies.movie(visit.number) else {
            return missing("This movie does not exist (any more).")
        }
        // A session opens with the first change that the form does not carry.
        return try editor(EditSession(movies, movie, token: visit.token), visit)
    }

    func sessionPage(_ visit: Visit) throws -> Reply {
        guard let session = sessions.find(visit.id, token: visit.token) else {
            if let number = sessions.result(of: visit.id) { return .redirect("/movies/\(number)") }
            return missing("This editor is no longer open. What was saved is among the movies.")
        }
        return try editor(session, visit)
    }

    func sessionCover(_ visit: Visit) throws -> Reply {
        guard let session = sessions.find(visit.id, token: visit.token),
            let reply = Pictures.reply(session.movie.cover?.data, visit)
        else { throw HTTPError(.notFound) }
        return reply
    }

    /// What the buttons of the editor do: cancel, take a cover, take what others wrote, save.
    func sendSession(_ visit: Visit) async throws -> Reply {
        guard let session = try session(visit) else {
            return .redirect(sessions.result(of: visit.id).map { "/movies/\($0)" } ?? "/movies")
        }
        let number = session.number
        let action = visit.form["do"] ?? "save"
        if action == "cancel" {
            sessions.cancel(session)
            return .redirect(number.map { "/movies/\($0)" } ?? "/movies")
        }
        session.form = FieldForm(visit.form)
        do {
            if action == "remove" {
                try sessions.keep(session, coverSize: 0)
                session.set(nil, nil)
                return .redirect("/edits/\(session.id)")
            }
            try await takeCover(visit, of: session)
        } catch let problem as Pictures.Problem {
            return try editor(session, visit, coverProblem: problem.message, status: 422)
        } catch let full as EditSessions.Full {
            return try editor(session, visit, coverProblem: full.message, status: 503)
        }
        if action == "cover" { return .redirect("/edits/\(session.id)") }
        let reply = try save(session, visit)
        do { try await movies.live.settle() } catch {
            // Nothing of it is in the store: the form, sent again, begins a session anew.
            sessions.forgetResult(of: session.id)
            throw error
        }
        return reply
    }

    /// Gives the session the cover that the form brought, if it brought one.
    private func takeCover(_ visit: Visit, of session: EditSession) async throws {
        guard let file = visit.form.files["cover"], !file.bytes.isEmpty || visit.form["do"] == "cover" else { return }
        let read = try await Pictures.read(file)
        try sessions.keep(session, coverSize: read.picture.count)
        session.set(read.picture, read.thumbnail)
    }

    /// The session that the form names; where it is not open, one that begins with what the form has. `nil` for one that was saved.
    private func session(_ visit: Visit) throws -> EditSession? {
        if let session = sessions.find(visit.id, token: visit.token) { return session }
        if sessions.result(of: visit.id) != nil { return nil }
        let number = Int(visit.form["movie"] ?? "")
        let id = Secret.isOne(visit.id) ? visit.id : Secret.make()
        let session = EditSession(movies, number.flatMap(movies.movie), id: id, token: visit.token)
        if number != nil, session.number == nil { session.expects(number) }
        return session
    }

    private func save(_ session: EditSession, _ visit: Visit) throws -> Reply {
        if let number = session.number {
            guard let present = movies.movie(number).map({ FieldForm<MovieField>($0) }) else {
                session.makeAnew()
                return try editor(session, visit, isGone: true, status: 410)
            }
            if let taken = visit.form["take"].flatMap(MovieField.init) { session.form.take(taken, from: present) }
            let conflicts = session.form.conflicts(with: present)
            session.form.takeUntouched(from: present)
            guard conflicts.isEmpty else {
                // Shown once: who sends the form again has seen what the others wrote.
                session.form.original = present.values
                return try editor(session, visit, conflicts: conflicts, status: 409)
            }
        }
        let problems = session.form.problems { movies.friend($0) != nil }
        guard problems.isEmpty else { return try editor(session, visit, problems: problems, status: 422) }
        session.apply(movies)
        let isNew = session.number == nil
        let done: (number: Int, step: Int?)
        do { done = try sessions.save(session) } catch let error as CocoaError
            where (NSManagedObjectValidationError..<1700).contains(error.code.rawValue)
        {
            return try editor(session, visit, problems: [.title: error.localizedDescription], status: 422)
        }
        let path = "/movies/\(done.number)"
        guard let step = done.step, let movie = movies.movie(done.number) else { return .redirect(path) }
        return .redirect(path, Flash(text: "\(movie.name) is \(isNew ? "added" : "saved").", step: step))
    }

    // MARK: The page

    private func editor(
        _ session: EditSession, _ visit: Visit, problems: [MovieField: String] = [:],
        conflicts: [MovieField: String] = [:], coverProblem: String? = nil, isGone: Bool = false, status: Int = 200
    ) throws -> Reply {
        let fields = MovieEditor(
            form: session.form, problems: problems, conflicts: conflicts,
            friends: try movies.friends().map { (String($0.number), $0.name) })
        let isNew = session.number == nil
        var notice: HTML = ""
        if isGone {
            notice = """
                <div class="notice problem" role=alert><p>Another user has deleted this movie meanwhile. Save to make it anew \
                from what you typed.</p></div>
                """
        } else if !conflicts.isEmpty {
            notice = FieldMarkup<MovieField>.notice
        }
        let title = isGone ? "Deleted meanwhile" : isNew ? "New movie" : session.form.value(.title)
        let button: HTML = isGone ? "Make it anew" : isNew ? "Add movie" : "Save"
        let number: HTML = session.number.map { "\($0)" } ?? ""
        // What is typed is kept under this name until it is sent.
        let draft = session.number.map { "/movies/\($0)/edit" } ?? "/movies/new \(visit.query["title"] ?? "")"
        return .page(
            page(
                title, .movies, isDetail: true,
                """
                <header class=top><h1>\(title.isEmpty ? "Untitled" : title)</h1></header>
                <div class=card>
                \(notice)<form method=post action="/edits/\(session.id)" enctype=multipart/form-data class=editor data-draft="\(draft)">\
                \(Page.token(visit.token))<input type=hidden name=movie value="\(number)">
                <button class=sr tabindex=-1 aria-hidden=true>Save</button>
                \(fields.html)
                \(cover(session, problem: coverProblem))
                <p class=row><button class=main name=do value=save>\(button)</button>
                <button name=do value=cancel formnovalidate>Cancel</button></p></form>
                </div>
                """), status: status)
    }

    private func cover(_ session: EditSession, problem: String?) -> HTML {
        var picture: HTML = ""
        let isOpen = sessions.isOpen(session)
        let data = isOpen ? session.movie.cover?.data : movies.cover(of: session.number.flatMap(movies.movie))
        if let data {
            let path = isOpen ? "/edits/\(session.id)/cover" : "/movies/\(session.number ?? 0)/cover"
            picture = """
                <img src="\(Pictures.path(path, data))" alt="Cover of \(session.form.value(.title))">
                """
        }
        let has = data != nil
        return """
            <div class="photo field"><h2>Cover</h2>
            \(picture)<label for=cover>\(has ? "Another picture" : "Add a picture")</label>
            <input id=cover type=file name=cover accept="\(Pictures.accepted)"\
            \(" aria-invalid=true aria-describedby=cover-problem", if: problem != nil)>
            \(problem.map { "<p class=problem id=cover-problem role=alert>\($0)</p>" as HTML })\
            <p class=row><button class=upload name=do value=cover formnovalidate>Upload</button>\
            \("<button name=do value=remove class=\"danger quiet\" formnovalidate>Remove picture</button>", if: has)</p></div>
            """
    }
}
