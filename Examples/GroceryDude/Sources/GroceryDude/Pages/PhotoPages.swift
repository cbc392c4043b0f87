import CoreData
import Foundation
import Hummingbird
import LivePages

// Pictures of items.
extension App {
    /// What the editor has below its fields.
    func photoForm(_ item: Item, _ visit: Visit, problem: String? = nil) -> HTML {
        let token = Page.token(visit.token)
        var picture: HTML = ""
        let data = groceries.picture(of: item)
        if let data {
            let path = Pictures.path("/items/\(item.number)/photo", data)
            picture = """
                <a href="\(path)"><img src="\(path)" \
                alt="Picture of \(item.title)"></a>
                """
        }
        let has = data != nil
        return """
            <form class=photo method=post action="/items/\(item.number)/photo\(Tab.origin(of: visit).query)" enctype=multipart/form-data>\(token)
            <h2>Picture</h2>
            \(picture)<div class=field><label for=photo>\(has ? "Another picture" : "Add a picture")</label>
            <input id=photo type=file name=photo accept="\(Pictures.accepted)"\
            \(" aria-invalid=true aria-describedby=photo-problem", if: problem != nil)>
            \(problem.map { "<p class=problem id=photo-problem role=alert>\($0)</p>" as HTML })</div>
            <p class=row><button class=upload>Upload</button>\
            \("<button name=remove value=1 class=\"danger quiet\">Remove picture</button>", if: has)</p></form>
            """
    }

    func changePhoto(_ visit: Visit) async throws -> Reply {
        let list = "/\(Tab.origin(of: visit).rawValue)"
        guard let item = groceries.item(visit.number) else { return .redirect(list, Self.gone) }
        let path = path(of: item, visit)
        if visit.form["remove"] != nil {
            let step = try groceries.removePhoto(of: item)
            return .redirect(path, Flash(text: "The picture is removed.", step: step))
        }
        let read: (picture: Data, thumbnail: Data?)
        do { read = try await Pictures.read(visit.form.files["photo"]) } catch let problem as Pictures.Problem {
            guard let item = groceries.item(visit.number) else { return .redirect(list, Self.gone) }
            return try photoProblem(problem.message, item, visit)
        }
        guard let item = groceries.item(visit.number) else { return .redirect(list, Self.gone) }
        let step = try groceries.setPhoto(read.picture, thumbnail: read.thumbnail, of: item)
        return .redirect(path, Flash(text: "\(item.title) has a new picture.", step: step))
    }

    private func photoProblem(_ problem: String, _ item: Item, _ visit: Visit) throws -> Reply {
        try editor(ItemForm(item), of: item, visit, photoProblem: problem, status: 422)
    }

    func photo(_ visit: Visit) throws -> Reply {
        guard let reply = Pictures.reply(groceries.picture(of: groceries.item(visit.number)), visit) else {
            throw HTTPError(.notFound)
        }
        return reply
    }

    func thumbnail(_ visit: Visit) throws -> Reply {
        guard let reply = Pictures.reply(groceries.item(visit.number)?.thumbnail, visit) else {
            throw HTTPError(.notFound)
        }
        return reply
    }
}
