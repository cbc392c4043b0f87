import CoreData
import Foundation
import Hummingbird

// Pictures of items.
extension App {
    /// What the editor has below its fields.
    func photoForm(_ item: Item, _ visit: Visit, problem: String? = nil) -> HTML {
        let token = Page.token(visit.token)
        var picture: HTML = ""
        if let data = item.photo?.data {
            picture = """
                <a href="\(Pictures.photoPath(item.number, data))"><img src="\(Pictures.photoPath(item.number, data))" \
                alt="Picture of \(item.title)"></a>
                """
        }
        let has = item.photo?.data != nil
        return """
            <form class=photo method=post action=/items/\(item.number)/photo enctype=multipart/form-data>\(token)
            <h2>Picture</h2>
            \(picture)<div class=field><label for=photo>\(has ? "Another picture" : "Add a picture")</label>
            <input id=photo type=file name=photo accept="image/jpeg,image/png,image/gif,image/webp"\
            \(" aria-invalid=true aria-describedby=photo-problem", if: problem != nil)>
            \(problem.map { "<p class=problem id=photo-problem role=alert>\($0)</p>" as HTML })</div>
            <p class=row><button>Upload</button>\
            \("<button name=remove value=1 class=\"danger quiet\">Remove picture</button>", if: has)</p></form>
            """
    }

    func changePhoto(_ visit: Visit) async throws -> Reply {
        guard let item = groceries.item(visit.number) else { return .redirect("/prepare", Self.gone) }
        let path = "/items/\(item.number)"
        if visit.form["remove"] != nil {
            let step = try groceries.removePhoto(of: item)
            return .redirect(path, Flash(text: "The picture is removed.", step: step))
        }
        guard let file = visit.form.files["photo"], !file.bytes.isEmpty else {
            return try photoProblem("Choose a picture first.", item, visit)
        }
        guard file.bytes.count <= Pictures.largest else {
            return try photoProblem("That is too large: pictures have at most 10 MB.", item, visit)
        }
        let noPicture = "That is no picture: JPEG, PNG, GIF and WebP can be uploaded."
        guard let kind = Pictures.Kind(file.bytes) else { return try photoProblem(noPicture, item, visit) }
        var thumbnail: Data?
        do { thumbnail = try await Thumbnails.shared.make(of: file.bytes, kind) } catch Thumbnails.Problem.noPicture {
            guard let item = groceries.item(visit.number) else { return .redirect("/prepare", Self.gone) }
            return try photoProblem("That picture is broken, or of a kind that cannot be read.", item, visit)
        } catch {
            // Without a program for it there is the large picture alone.
        }
        guard let item = groceries.item(visit.number) else { return .redirect("/prepare", Self.gone) }
        let step = try groceries.setPhoto(file.bytes, thumbnail: thumbnail, of: item)
        return .redirect(path, Flash(text: "\(item.title) has a new picture.", step: step))
    }

    private func photoProblem(_ problem: String, _ item: Item, _ visit: Visit) throws -> Reply {
        try editor(ItemForm(item), of: item, visit, photoProblem: problem, status: 422)
    }

    func photo(_ visit: Visit) throws -> Reply {
        guard let data = groceries.item(visit.number)?.photo?.data, let kind = Pictures.Kind(data) else {
            throw HTTPError(.notFound)
        }
        return .file(data, type: kind.mediaType, isForever: visit.query["v"] != nil)
    }

    func thumbnail(_ visit: Visit) throws -> Reply {
        guard let data = groceries.item(visit.number)?.thumbnail, let kind = Pictures.Kind(data) else {
            throw HTTPError(.notFound)
        }
        return .file(data, type: kind.mediaType, isForever: visit.query["v"] != nil)
    }
}
