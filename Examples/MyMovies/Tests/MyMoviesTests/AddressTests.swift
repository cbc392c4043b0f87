import CoreData
import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import MyMovies

/// Addresses with numbers: of objects of their own entity, of another one, of none.
@Suite(.timeLimit(.minutes(2))) struct AddressTests {
    /// What has a number in its address, by the entity whose number it is.
    private static let pages = [("Movie", "/movies"), ("Friend", "/friends")]

    @MainActor private func numbers(_ app: App, _ entity: String) throws -> Set<Int> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        return Set(try app.movies.view.fetch(request).map(\.number))
    }

    @Test(arguments: pages) func aNumberOfAnotherEntityIsNotFound(_ entity: String, _ path: String) async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let own = try await numbers(server.app, entity)
            #expect(!own.isEmpty && own.isSubset(of: 1...3))
            #expect(try await browser.wrongPages(1...4, below: path, own: own) == [])
            let pages = BadNumbers.texts.flatMap { number in
                ["", "/edit", "/cover", "/thumbnail"].map { "\(path)/\(number)\($0)" }
            }
            #expect(try await browser.pagesThatExist(pages) == [])
        }
    }

    @Test(arguments: pages) func aFormForAnotherEntityChangesNothing(_ entity: String, _ path: String) async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let own = try await numbers(server.app, entity)
            let forms = BadNumbers.texts(and: 1...4, without: own).flatMap { number in
                ["", "/delete", "/watched", "/back"].map { "\(path)/\(number)\($0)" }
            }
            #expect(try await browser.wrongAnswers(to: forms, ["name": "Changed"], expecting: [303, 400, 404]) == [])
            for number in BadNumbers.texts(and: 4...4) {
                #expect(try await browser.post("/shared", ["i": number]).status == 303)
            }
            #expect(try await numbers(server.app, entity) == own)
            let page = try await browser.get("/movies").words
            #expect(page.contains("Shared 1 Metropolis (1927) DVD · Lent to Amira"), "\(page)")
        }
    }

    @Test func whatWasDeletedIsNotFound() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let movie = try await server.number(of: "Sunrise")
            #expect(try await browser.post("/movies/\(movie)/delete").status == 303)
            for page in ["", "/edit", "/cover", "/thumbnail"] {
                #expect(try await browser.get("/movies/\(movie)\(page)").status == 404, "\(page)")
            }
            #expect(try await browser.post("/movies/\(movie)/delete").status == 303)
        }
    }
}
