//! The Lambda function behind `POST /mcp` of checklists.

use checklists::Checklists;
use checklists::settings::Settings;
use checklists::store::Store;
use onepost_cloud::limits::Limiter;
use onepost_cloud::table::Table;
use onepost_cloud::{aws, lambda, secrets, telemetry};
use onepost_core::auth::KeyCache;
use onepost_core::clock::SystemClock;
use onepost_core::http::Gate;
use onepost_core::id::Ids;
use onepost_core::mcp::Server;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda::Error> {
    telemetry::init("info");
    // What is returned is shown as programs see it; the log gets the words.
    serve().await.inspect_err(|error| tracing::error!(%error, "the function cannot start"))
}

async fn serve() -> Result<(), lambda::Error> {
    let settings = Settings::from_environment()?;
    let aws = aws::Environment::read()?;
    let table = Table::new(&aws.dynamodb(), settings.table);
    let vault = aws.secrets_manager();
    // Both at once, while init has a whole core.
    let (peppers, ()) = futures_util::join!(secrets::peppers(&vault, &settings.pepper_secret), table.prime());
    let product = Checklists {
        limiter: Some(Limiter::new(table.clone(), settings.limits)),
        store: Store::new(table),
        peppers: peppers?,
        site: settings.site,
        mailer: settings.mailer,
        gate: Gate { origins: settings.origins, local: false },
        clock: Box::new(SystemClock),
        ids: Ids::default(),
        keys: KeyCache::default(),
    };
    lambda::serve(Server::new(product)).await
}
