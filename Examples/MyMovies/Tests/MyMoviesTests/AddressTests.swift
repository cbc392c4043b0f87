import CoreData
import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import MyMovies

/// Addresses with numbers: of objects of their own entity, of another one, of none.
@Suite(.timeLimit(.minutes(2))) struct AddressTests {
    /// What stands for an object in an address, and is no number of one.
    private static let noNumbers = [
        "0", "-1", "99", "9223372036854775807", "9223372036854775808", "1e1", "1.0", "x", "p1", "%20", "1%00",
        "%EF%BC%91",
    ]
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
            for number in 1...4 {
                #expect(try await browser.get("\(path)/\(number)").status == (own.contains(number) ? 200 : 404))
            }
            for number in Self.noNumbers {
                for address in [
                    "\(path)/\(number)", "\(path)/\(number)/edit", "\(path)/\(number)/cover",
                    "\(path)/\(number)/thumbnail",
                ] {
                    let status = try await browser.get(address).status
                    #expect(status == 404 || status == 400, "\(address): \(status)")
                }
            }
        }
    }

    @Test(arguments: pages) func aFormForAnotherEntityChangesNothing(_ entity: String, _ path: String) async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let own = try await numbers(server.app, entity)
            for number in (1...4).filter({ !own.contains($0) }).map(String.init) + Self.noNumbers {
                for form in ["", "/delete", "/watched", "/back"] {
                    let status = try await browser.post("\(path)/\(number)\(form)", ["name": "Changed"]).status
                    #expect([303, 400, 404].contains(status), "\(path)/\(number)\(form): \(status)")
                }
            }
            for number in ["4"] + Self.noNumbers {
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
